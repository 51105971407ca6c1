"""The whole translator, block by block: sizes, attention weights, the logit lens, the cache."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from traitlets import Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, listed, natural, number, string
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import (
    FAR,
    exported,
    packed_shares,
    single_precision,
    words,
)
from gates2heads.views.kit.view import ShowMe, module, style
from gates2heads.watching.walk import Cache, Readouts, Stage, Walk


@accepts(
    model=exported,
    examples=words(least=1),
    recorded=instance(Walk, "as `walk` gives"),
    written=string,
    title=string,
    label=string,
    hint=string,
    about=string,
    place=natural(least=0),
    step=natural(least=0),
    token=natural(least=0),
)
class ModelWalk(GermanView):
    """Type German and follow it through the translator, block by block and token by token.

    The boxes of the encoder are above, those of the decoder below; the open one shows what each
    sublayer adds, and its attention weights. Below are the logit lens, the most probable token
    after each block, and the size of the cache.

    Source: nostalgebraist 2020 for the logit lens; Vig 2019 for the attention weights of all heads.

    Args:
        model: a `Transformer` with its tokenizers, from `export_model`.
        examples: sentences to click; the first is the recorded one.
        recorded: the run of the same model on the first example, from `walk`.
        written: the recorded translation as a string.
        title: above the view.
        label: the label of the input field, beside it.
        hint: a suggestion, in one line.
        about: a sentence about the model.
        place: the number of the box that is open at first, counted from 0, the encoder's
            embedding: then its blocks, then the decoder's embedding and its blocks.
        step, token: the current output token and the selected source token, from 0.
        show_me: `ShowMe` buttons, below the hint.

    Attributes:
        text: the source sentence, synchronised with the view.

    Raises:
        TypeError: an incomplete recording.
        ValueError: numbers that do not fit the tokens, or a number out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__, "german.css")

    examples = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    weights = Bytes().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    place = Int(0).tag(sync=True)
    step = Int(0).tag(sync=True)
    token = Int(0).tag(sync=True)

    _positions = ("place", "step", "token")

    def __init__(
        self,
        model: Exported,
        examples: Sequence[str],
        recorded: Walk,
        written: str,
        *,
        title: str = "",
        label: str = "Type a German sentence of up to 40 tokens",
        hint: str = "",
        about: str = "",
        place: int = 0,
        step: int = 0,
        token: int = 0,
        show_me: Sequence[ShowMe] = (),
    ):
        _check_recorded(recorded)
        stages, weights = _stages(recorded)
        super().__init__(
            model,
            examples=list(examples),
            recorded={
                "text": examples[0],
                "written": written,
                "source": list(recorded.source),
                "target": list(recorded.target),
                "logProb": float(recorded.log_prob),
                "finished": recorded.target[-1] == "<eos>",
                "stages": stages,
                "readouts": _readouts(recorded),
                "cache": {**recorded.cache._asdict(), "shape": list(recorded.cache.shape)},
            },
            weights=weights,
            text=examples[0],
            title=title,
            label=label,
            hint=hint,
            about=about,
        )
        self.place, self.step, self.token = place, step, token
        self.show_me = list(show_me)

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "place":
            return len({(one["stack"], one["block"]) for one in self.recorded["stages"]})
        return FAR

    @validate("place", "step", "token")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    def __repr__(self):
        return f"ModelWalk({self.live[0]['name']}, {len(self.examples)} examples)"


def _check_recorded(recorded: Walk) -> None:
    """Reject incomplete values: a walk is created by `walk`, but anybody can create a tuple."""
    words(least=1).check("recorded.source", recorded.source)
    words(least=1).check("recorded.target", recorded.target)
    number.check("recorded.log_prob", recorded.log_prob)
    listed("stages", instance(Stage), least=1).check("recorded.stages", recorded.stages)
    instance(Readouts).check("recorded.readouts", recorded.readouts)
    instance(Cache).check("recorded.cache", recorded.cache)


def _stages(recorded: Walk) -> tuple[list[dict], bytes]:
    """The numbers of each sublayer, as JSON values, and all attention weights in one row."""
    stages, weights = [], []
    for stage in recorded.stages:
        entry = stage._asdict()
        rows = len(recorded.source if stage.stack == "encoder" else recorded.target)
        for name in ("before", "added", "after"):
            if entry[name] is not None:
                entry[name] = _rounded(entry[name], f"recorded.stages, {name}", (rows,))
        map_ = entry.pop("weights")
        if map_ is not None:
            map_ = single_precision(map_, "recorded.stages, weights")
            if map_.ndim != 3 or map_.shape[1] != rows:
                raise ValueError(
                    f"recorded.stages, weights must be (heads, {rows}, ·), got {map_.shape}"
                )
            weights.append(packed_shares(map_))
        stages.append({**entry, "shape": None if map_ is None else list(map_.shape)})
    return stages, b"".join(weights)


def _readouts(recorded: Walk) -> dict:
    """The logit lens, as JSON values."""
    words, log_probs, rank, written = recorded.readouts
    size = (len(words), len(recorded.target))
    return {
        "words": words,
        "logProbs": _rounded(log_probs, "recorded.readouts, log_probs", (*size, len(words[0][0]))),
        "rank": rank.tolist(),
        "written": _rounded(written, "recorded.readouts, written", size),
    }


def _rounded(numbers: Any, name: str, shape: tuple[int, ...]) -> list:
    """Numbers of a shape as lists, to six decimals."""
    values = single_precision(numbers, name)
    if values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {values.shape}")
    return np.round(values.astype(float), 6).tolist()
