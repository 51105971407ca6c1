"""A translator for the reader's own sentences, and what its cross-attention attends to."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from traitlets import Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, count, listed, text
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import exported, single_precision, words
from gates2heads.views.kit.view import PositionError, module, style

WIDEST = 10  # beam


class Example(NamedTuple):
    """A text to choose."""

    label: str  # what stands on the button, a word or two
    text: str
    watch: str = ""  # what there is to see, in a sentence


@accepts(
    model=exported,
    examples=listed("examples", words(least=2), least=1),
    about=text,
    width=count(most=WIDEST),
)
class Translate(GermanView):
    """Type German, read English, and point at a word to see what it attends to.

    The links are cross-attention, the mean over the heads of the last decoder layer unless the
    reader chooses another. Of all choices, this mean most often gives the largest weight to the
    source word whose removal lowers the probability of the output most.

    Source: Vaswani et al. 2017, section 3.2.3, for the weights; Jain & Wallace 2019 for the doubt
    whether weights explain, and for asking what happens without a word.

    Args:
        model: the translator, from `export_model`.
        examples: texts to choose from; the first is the recorded one.
        recorded: the same model's output for the first example: `text`, `source` and `target`
            tokens, and `weights` (layers, H, T, S).
        about: what the model is, in a line.
        width: of the beam, 1 to 10; 1 is greedy search.

    Attributes:
        text, width: what is asked, in step with the view.

    Raises:
        TypeError: no recording.
        ValueError: an example without a text, or weights that do not fit the tokens.
    """

    _esm = module(__file__)
    _css = style(__file__, "german.css")

    examples = List().tag(sync=True)
    recorded = Dict().tag(sync=True)
    weights = Bytes().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    width = Int(1).tag(sync=True)

    def __init__(
        self,
        model: Exported,
        examples: Sequence[Example | Sequence[str]],
        recorded: Any,
        *,
        about: str = "",
        width: int = 1,
        **traits: Any,
    ):
        examples = _examples(examples)
        weights = _weights(recorded)
        super().__init__(
            model,
            examples=[list(example) for example in examples],
            recorded={
                "text": examples[0].text,
                "source": list(recorded.source),
                "target": list(recorded.target),
                "finished": recorded.target[-1] == "<eos>",
                "shape": list(weights.shape),
            },
            weights=weights.tobytes(),
            about=about,
            text=examples[0].text,
            width=width,
            **traits,
        )

    @validate("width")
    def _inside(self, proposal: dict[str, Any]) -> int:
        if not 1 <= proposal["value"] <= WIDEST:
            raise PositionError(f"width must be from 1 to {WIDEST}, got {proposal['value']}")
        return proposal["value"]

    def _limits(self) -> dict[str, tuple[float, float]]:
        return {"width": (1, WIDEST)}

    def __repr__(self):
        return f"Translate({self.live[0]['name']}, {len(self.examples)} examples)"


def _examples(examples: Sequence[Example | Sequence[str]]) -> list[Example]:
    found = []
    for place, example in enumerate(examples):
        if not isinstance(example, list | tuple) or not 2 <= len(example) <= 3:
            raise TypeError(f"examples[{place}] must be an Example, got {shown(example)}")
        for part in example:
            text.check(f"examples[{place}]", part)
        if not example[1].strip():
            raise ValueError(f"examples[{place}] must have a text, got an empty one")
        found.append(Example(*example))
    return found


def _weights(recorded: Any) -> np.ndarray:
    if not all(hasattr(recorded, part) for part in ("source", "target", "weights")):
        raise TypeError(f"recorded must have source, target and weights, got {shown(recorded)}")
    for side in ("source", "target"):
        words.check(f"recorded.{side}", getattr(recorded, side))
    weights = single_precision(recorded.weights, "recorded.weights")
    sides = (len(recorded.target), len(recorded.source))
    if weights.ndim != 4 or weights.shape[2:] != sides or not weights.size:
        raise ValueError(
            f"recorded.weights must be (layers, heads, {sides[0]}, {sides[1]}), got {weights.shape}"
        )
    return weights
