"""The frame viewer: a row of finished pictures and a slider through them."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from traitlets import Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, listed, natural, string, strings
from gates2heads.accepts.values import MOST
from gates2heads.figures.arguments import seen
from gates2heads.figures.figures import themed_svg
from gates2heads.views.kit.view import View, module, style


@accepts(
    frames=listed("figures", instance(Figure), least=1),
    labels=strings,
    title=string,
    interval_ms=natural,
    alts=strings,
    index=natural(least=-MOST),
)
class FrameViewer(View):
    """Shows one of many pictures, with a slider, single steps and playback.

    Args:
        frames: Matplotlib figures, at least one. Each becomes an SVG whose ink is the colour of the
            text around it, so that it follows the page's theme.
        labels: one line per frame, shown beside the slider and read out; "1 of 7" if left out.
        title: what the frames show, above them.
        alts: the content of each frame, in a sentence for those who cannot see it; none if left
            out.
        interval_ms: time per frame in playback, in milliseconds.
        index: the frame that is shown first, counted from 0.

    Attributes:
        index: the shown frame, in step with the picture; may be linked.

    Raises:
        ValueError: labels or alts that do not fit the frames, or an index beyond them.
    """

    _esm = module(__file__)
    _css = style(__file__)

    frames = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    alts = List(Unicode()).tag(sync=True)
    interval_ms = Int(600).tag(sync=True)
    index = Int(0).tag(sync=True)

    def __init__(
        self,
        frames: Sequence[Figure],
        labels: Sequence[str] | None = None,
        title: str = "",
        interval_ms: int = 600,
        *,
        alts: Sequence[str] | None = None,
        index: int = 0,
        **kwargs: Any,
    ):
        # The described image is the frame around the drawing, not the drawing again.
        drawn = [themed_svg(frame).replace(' role="img"', "", 1) for frame in frames]
        if labels is None:
            labels = [f"{place + 1} of {len(frames)}" for place in range(len(frames))]
        if len(labels) != len(frames):
            raise ValueError(f"labels must name {len(frames)} frames, got {len(labels)}")
        alts = [""] * len(frames) if alts is None else alts
        if len(alts) != len(frames):
            raise ValueError(f"alts must describe {len(frames)} frames, got {len(alts)}")
        super().__init__(
            frames=drawn,
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
