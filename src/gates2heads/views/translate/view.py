"""A translator for the reader's own sentences, and what its cross-attention attends to."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from traitlets import Bytes, Int, List, Unicode, validate

from gates2heads.accepts import accepts, listed, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.figures.arguments import as_numbers
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import exported, packed_shares, words
from gates2heads.views.kit.view import PositionError, module, style

WIDEST = 10  # beam
ROUNDING = 1e-5  # by which a weight in single precision may exceed 1


class Example(NamedTuple):
    """A text to choose."""

    label: str  # the text on the button, a word or two
    text: str
    watch: str = ""  # what to notice, in a sentence
    group: str = ""  # written before the first example of several in a row that share it


@accepts(
    model=exported,
    examples=listed("examples", words(least=2), least=1),
    about=string,
    width=natural(most=WIDEST),
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
        examples: texts to choose from.
        recorded: the same model's greedy output for the first example, or a list of outputs for
            the first few: `source` and `target` tokens, and `weights` (layers, H, T, S) from 0
            to 1. The page shows these without loading the model.
        about: a description of the model, in one line.
        width: of the beam, 1 to 10; 1 is greedy search.
        pairs: English sentences to start from, each with the German that the model's partner
            writes for it, which must be a recorded example. They need no model in the page.

    Attributes:
        text, width: the query, synchronised with the view.

    Raises:
        TypeError: a recording is invalid.
        ValueError: an example without a text, more recordings than examples, weights that do
            not fit the tokens, or a pair whose German is not recorded.
    """

    _esm = module(__file__)
    _css = style(__file__, "german.css")

    examples = List().tag(sync=True)
    recorded = List().tag(sync=True)
    weights = Bytes().tag(sync=True)
    pairs = List().tag(sync=True)
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
        pairs: Sequence[Sequence[str]] = (),
        **traits: Any,
    ):
        examples = _examples(examples)
        recordings = _recordings(recorded, len(examples))
        _check_pairs(pairs, [text for _, text, *_ in examples[: len(recordings)]])
        weights = [_weights(one, name) for name, one in recordings.items()]
        stored = list(zip(examples, recordings.values(), weights, strict=False))
        super().__init__(
            model,
            examples=[list(example) for example in examples],
            recorded=[_recording(example.text, one, map_.shape) for example, one, map_ in stored],
            weights=b"".join(packed_shares(map_) for map_ in weights),
            about=about,
            pairs=[list(pair) for pair in pairs],
            text=examples[0].text,
            also=[example.text for example, _, _ in stored[1:]],
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
        if not isinstance(example, list | tuple) or not 2 <= len(example) <= 4:
            raise TypeError(f"examples[{place}] must be an Example, got {shown(example)}")
        for part in example:
            string.check(f"examples[{place}]", part)
        if not example[1].strip():
            raise ValueError(f"examples[{place}] must have a text, got an empty one")
        found.append(Example(*example))
    return found


def _recordings(recorded: Any, most: int) -> dict[str, Any]:
    """The recordings by their names in messages."""
    if not isinstance(recorded, list):
        return {"recorded": recorded}
    if not 1 <= len(recorded) <= most:
        raise ValueError(f"recorded must have 1 to {most} outputs, got {len(recorded)}")
    return {f"recorded[{place}]": one for place, one in enumerate(recorded)}


def _check_pairs(pairs: Sequence[Sequence[str]], recorded: list[str]) -> None:
    for place, pair in enumerate(pairs):
        words(least=2).check(f"pairs[{place}]", pair)
        if len(pair) != 2:
            raise ValueError(f"pairs[{place}] must be two texts, got {shown(pair)}")
        if pair[1] not in recorded:
            raise ValueError(
                f"pairs[{place}] must end in the text of a recorded example, got {shown(pair[1])}"
            )


def _recording(text: str, recorded: Any, shape: Sequence[int]) -> dict[str, Any]:
    return {
        "text": text,
        "source": list(recorded.source),
        "target": list(recorded.target),
        "finished": recorded.target[-1] == "<eos>",
        "shape": list(shape),
    }


def _weights(recorded: Any, name: str) -> np.ndarray:
    if not all(hasattr(recorded, part) for part in ("source", "target", "weights")):
        raise TypeError(f"{name} must have source, target and weights, got {shown(recorded)}")
    for side in ("source", "target"):
        words.check(f"{name}.{side}", getattr(recorded, side))
    weights = as_numbers(recorded.weights, f"{name}.weights")
    sides = (len(recorded.target), len(recorded.source))
    if weights.ndim != 4 or weights.shape[2:] != sides or not weights.size:
        raise ValueError(
            f"{name}.weights must be (layers, heads, {sides[0]}, {sides[1]}), got {weights.shape}"
        )
    if weights.min() < 0 or weights.max() > 1 + ROUNDING:
        raise ValueError(
            f"{name}.weights must be from 0 to 1, got {weights.min():g} to {weights.max():g}"
        )
    return weights.clip(0, 1)
