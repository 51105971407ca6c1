"""The frame viewer: a row of finished pictures and a slider through them."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from traitlets import Int, List, Unicode, validate

from gates2heads.accepts.shown import shown
from gates2heads.checks.figures import seen
from gates2heads.checks.values import MOST, check_count, check_list, check_texts
from gates2heads.display.figures import themed_svg
from gates2heads.display.widgets.view import View, module, style


class FrameViewer(View):
    """Shows one of many pictures, with a slider, single steps and playback.

    Args:
        frames: Matplotlib figures or SVG texts, at least one. A figure becomes an SVG whose ink is
            the colour of the text around it, so that it follows the page's theme.
        labels: one line per frame, shown beside the slider and read out; "1 of 7" if left out.
        title: what the frames show, above them.
        alts: what is to be seen in each frame, in a sentence for who does not see it; none if left
            out.
        interval_ms: time per frame in playback, in milliseconds.
        index: the frame that is shown first, counted from 0.

    Attributes:
        index: the shown frame, in step with the picture; may be linked.

    Raises:
        TypeError: a frame that is neither a figure nor an SVG, or another argument of a wrong kind.
        ValueError: no frames, labels or alts that do not fit them, an interval below 1.
    """

    _esm = module("frame_viewer.js")
    _css = style("frame_viewer.css")

    frames = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    alts = List(Unicode()).tag(sync=True)
    interval_ms = Int(600).tag(sync=True)
    index = Int(0).tag(sync=True)

    def __init__(
        self,
        frames: Sequence[Figure | str],
        labels: Sequence[str] | None = None,
        title: str = "",
        interval_ms: int = 600,
        *,
        alts: Sequence[str] | None = None,
        index: int = 0,
        **kwargs: Any,
    ):
        check_list("frames", frames, of="pictures")
        frames = [_svg(frame, place) for place, frame in enumerate(frames)]
        if not frames:
            raise ValueError("frames must hold at least one picture, got none")
        if labels is None:
            labels = [f"{place + 1} of {len(frames)}" for place in range(len(frames))]
        check_texts("labels", labels)
        labels = list(labels)
        if len(labels) != len(frames):
            raise ValueError(f"labels must name {len(frames)} frames, got {len(labels)}")
        alts = [""] * len(frames) if alts is None else alts
        check_texts("alts", alts)
        if len(alts) != len(frames):
            raise ValueError(f"alts must describe {len(frames)} frames, got {len(alts)}")
        if not isinstance(title, str):
            raise TypeError(f"title must be a string, got {shown(title)}")
        check_count("interval_ms", interval_ms)
        check_count("index", index, least=-MOST)
        super().__init__(
            frames=frames,
            labels=[seen(label) for label in labels],
            alts=[seen(alt) for alt in alts],
            title=seen(title),
            interval_ms=interval_ms,
            index=index,
            **kwargs,
        )

    _positions = ("index",)

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(self.frames)

    @validate("index")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    def __repr__(self):
        return f"FrameViewer({len(self.frames)} frame{'s' if len(self.frames) > 1 else ''})"


def _svg(frame: Figure | str, place: int) -> str:
    if not isinstance(frame, str):
        if not isinstance(frame, Figure):
            raise TypeError(
                f"frames[{place}] must be a Matplotlib Figure or an SVG text, "
                f"got {type(frame).__name__}"
            )
        frame = themed_svg(frame)
    start = frame.find("<svg")
    if start < 0:
        raise TypeError(f"frames[{place}] must be an SVG text, it has no <svg")
    # An XML declaration has no place inside a page. What is an image, and described, is the frame
    # around the drawing, not the drawing again.
    return frame[start:].replace(' role="img"', "", 1)
