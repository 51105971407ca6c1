"""The next-token distributions of language models, and the surprisal of the reader's own words."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from traitlets import Bool, Float, Int, List, Unicode, validate

from gates2heads.accepts import accepts, flag, instance, listed, natural, string
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import LiveView, exported, labels_of, words
from gates2heads.views.kit.view import module, style
from gates2heads.watching.next_token import Foreseen

SHOWN = 8  # of the most probable next tokens
LIMITS = {"temperature": (0.1, 3.0), "top_k": (0, 100), "top_p": (0.05, 1.0)}


class Column(NamedTuple):
    """One of the models that are shown side by side."""

    name: str
    model: Exported
    foreseen: Foreseen  # the result of the model on the first example, from `foresee`
    place: int = 0  # of the models in a file of n-grams: 0 unsmoothed, 1 smoothed


@accepts(
    columns=listed("columns", instance(Column), least=1),
    examples=words(least=1),
    labels=words,
    title=string,
    label=string,
    hint=string,
    about=string,
    source=natural(least=0),
    barred=words,
    surprise=flag,
)
class NextToken(LiveView):
    """Type a beginning: see each model's next-token distribution and let the model continue.

    Below the text are the most probable next tokens of every model, as temperature, top-k and top-p
    modify them, and the surprisal of each typed word, in bits. A click on a token appends
    it; so does sampling. If ends are barred, a model can be made to continue without one.

    Args:
        columns: the models, from left to right.
        examples: texts on buttons; the first is the recorded one.
        labels: the words on these buttons; the texts themselves if left out.
        title: above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        source: which model continues the text at first, counted from 0.
        barred: tokens that are not sampled in open-ended generation, such as `["<eos>", "."]`; if
            there are any, the reader can switch it on.
        surprise: whether the table with the surprisal of each word is shown.
        traits: as for any widget, such as `show_me`; a button whose state sets no text continues
            the first example with the settings of that state.

    Attributes:
        text: the input, synchronised with the view.
        temperature, top_k, top_p: the modification of the distribution; a top_k of 0 keeps all
            tokens.
        source: the position of the model that continues the text.
        open_ended: whether the barred tokens are left out.
        seed: of the next sample.

    Raises:
        TypeError: an invalid part of a column.
        ValueError: recordings of another text than the first, or a missing source.
    """

    _esm = module(__file__)
    _css = style(__file__)

    columns = List().tag(sync=True)
    recorded = List().tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    temperature = Float(1.0).tag(sync=True)
    top_k = Int(0).tag(sync=True)
    top_p = Float(1.0).tag(sync=True)
    source = Int(0).tag(sync=True)
    barred = List(Unicode()).tag(sync=True)
    open_ended = Bool(False).tag(sync=True)
    surprise = Bool(True).tag(sync=True)
    seed = Int(0).tag(sync=True)

    _positions = ("source",)

    def __init__(
        self,
        columns: Sequence[Column],
        examples: Sequence[str],
        *,
        labels: Sequence[str] | None = None,
        title: str = "",
        label: str = "Type the beginning of a caption, in English",
        hint: str = "",
        about: str = "",
        source: int = 0,
        barred: Sequence[str] = (),
        surprise: bool = True,
        **traits: Any,
    ):
        _check_columns(columns)
        for column in columns:
            if "".join(column.foreseen.tokens).strip() != examples[0]:
                raise ValueError("columns must have foreseen the first example")
        models = list({id(column.model): column.model for column in columns}.values())
        super().__init__(
            *models,
            columns=[
                {"name": one.name, "live": models.index(one.model), "place": one.place}
                for one in columns
            ],
            recorded=[_payload(one.foreseen) for one in columns],
            examples=list(examples),
            labels=labels_of(examples, labels),
            text=examples[0],
            title=title,
            label=label,
            hint=hint,
            about=about,
            barred=list(barred),
            surprise=surprise,
            **traits,
        )
        self.source = source

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(self.columns)

    def _limits(self) -> dict[str, tuple[float, float]]:
        return LIMITS

    @validate("source")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("temperature", "top_k", "top_p")
    def _within(self, proposal: dict[str, Any]) -> float:
        return self._within_limits(proposal)

    def __repr__(self):
        names = ", ".join(column["name"] for column in self.columns)
        return f"NextToken({names}; {len(self.examples)} examples)"


def _check_columns(columns: Sequence[Column]) -> None:
    for index, one in enumerate(columns):
        string.check(f"columns[{index}].name", one.name)
        exported.check(f"columns[{index}].model", one.model)
        instance(Foreseen, "as `foresee` gives").check(f"columns[{index}].foreseen", one.foreseen)
        natural(least=0).check(f"columns[{index}].place", one.place)


def _payload(foreseen: Foreseen) -> dict:
    """The recorded example for the page; a token without a probability is null."""
    probs = foreseen.log_probs.exp()
    likeliest = sorted(range(len(probs)), key=lambda token: (-probs[token].item(), token))
    return {
        "tokens": list(foreseen.tokens),
        "bits": [_finite(bits) for bits in foreseen.bits.tolist()],
        "endBits": _finite(foreseen.end_bits),
        "ahead": [
            {
                "token": token,
                "piece": foreseen.vocabulary[token],
                "prob": probs[token].item(),
                "drawn": probs[token].item(),
            }
            for token in likeliest[:SHOWN]
            if probs[token] > 0
        ],
        "kept": int((probs > 0).sum()),
    }


def _finite(bits: float) -> float | None:
    return bits if math.isfinite(bits) else None
