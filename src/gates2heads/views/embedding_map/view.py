"""Word vectors in the page: neighbours of a word, differences of two, analogies of three."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from traitlets import Bool, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, mapping, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.metrics.words.questions import MOST_WORDS, WordAnswer
from gates2heads.models.words.subword_table import SubwordTable
from gates2heads.views.kit.live_view import (
    LiveView,
    labels_of,
    words,
)
from gates2heads.views.kit.view import PositionError, module, style

MOST_FOUND = 20  # words per list for which the map has room


@accepts(
    models=mapping("names to tables"),
    examples=words(least=1),
    recorded=instance(WordAnswer, "as `ask_words` gives"),
    labels=words,
    title=string,
    label=string,
    hint=string,
    about=string,
)
class EmbeddingMap(LiveView):
    """Type a word for its neighbours, two for their difference, or three for an analogy.

    The answer is shown as a list with cosines, and as a map of the first two principal components
    of the shown words, see `flat_map`. A click on a word queries it.

    Args:
        models: tables of word vectors by name, such as "skip-gram", from `export_model`; each is a
            `WordTable` or a `SubwordTable`. The first is shown first. With a `SubwordTable`, a word
            outside the vocabulary gets a vector from its character n-grams; the error message of
            another table for such a word names this one.
        examples: queries on buttons, each of one to three words separated by spaces; the first is
            the recorded one.
        recorded: the result of `ask_words` for the first model and the first example.
        labels: the labels of the examples' buttons; the words themselves if left out.
        title: shown above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the vectors, in one line.

    Attributes:
        text: the query, synchronised with the view.
        model: the position of the shown table, counted from 0.
        count: the number of words in a list, 3 to 20.
        exclude: whether the query words are left out of the answer.

    Raises:
        ValueError: a recording of other words than the first example.
    """

    _esm = module(__file__)
    _css = style(__file__)

    names = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    subword = Int(-1).tag(sync=True)  # the table of n-grams; −1 if there is none
    model = Int(0).tag(sync=True)
    count = Int(10).tag(sync=True)
    exclude = Bool(True).tag(sync=True)

    _positions = ("model",)

    def __init__(
        self,
        models: Mapping[str, Exported],
        examples: Sequence[str],
        recorded: WordAnswer,
        *,
        labels: Sequence[str] | None = None,
        title: str = "",
        label: str = "One, two or three words",
        hint: str = "",
        about: str = "",
    ):
        words.check("the names of models", list(models))
        payload = _payload(recorded, examples[0])
        super().__init__(
            *models.values(),
            names=list(models),
            examples=list(examples),
            labels=labels_of(examples, labels),
            recorded=payload,
            text=examples[0],
            count=len(recorded.found[0]),
            title=title,
            label=label,
            hint=hint,
            about=about,
        )
        self.subword = _of_ngrams(models.values())  # after they are known to be models

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(self.names)

    def _limits(self) -> dict[str, tuple[int, int]]:
        return {"count": (3, MOST_FOUND)}

    @validate("model")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("count")
    def _some(self, proposal: dict[str, Any]) -> int:
        low, high = self._limits()["count"]
        if not low <= proposal["value"] <= high:
            raise PositionError(f"count must be from {low} to {high}, got {proposal['value']}")
        return proposal["value"]

    def __repr__(self):
        return f"EmbeddingMap({', '.join(self.names)}, {len(self.examples)} examples)"


def _of_ngrams(models: Iterable[Exported]) -> int:
    """The position of the first model that has a vector for unseen words; −1 if none has."""
    kinds = (json.loads(one.header).get("model", {}).get("kind") for one in models)
    return next((at for at, kind in enumerate(kinds) if kind == SubwordTable.__name__), -1)


def _payload(recorded: WordAnswer, text: str) -> dict:
    """The recorded answer for the page."""
    if list(recorded.asked) != text.split() or not 1 <= len(recorded.asked) <= MOST_WORDS:
        asked = " ".join(recorded.asked)
        raise ValueError(f"recorded must be of the first example, got {shown(asked)}")
    return {
        "text": text,
        "asked": list(recorded.asked),
        "cosines": list(recorded.cosines),
        "found": [[list(pair) for pair in one] for one in recorded.found],
        "points": list(recorded.points),
        "places": recorded.places.tolist(),
        "shares": list(recorded.shares),
    }
