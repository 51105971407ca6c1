"""Base class of views with German input: English as a second input, and word counts."""

import json
from collections.abc import Sequence
from typing import Any

from traitlets import Dict, List

from gates2heads.browser.engine.export import Exported
from gates2heads.data.corpora.caption_words import unpack, word_key, words_in
from gates2heads.views.kit.live_view import LiveView, named


class GermanView(LiveView):
    """A view of a translator from German, for readers who may not know German.

    If the model has a partner, a reader can type English, and the partner writes the German; it is
    loaded when this is used for the first time. If the model's file counts the words of its
    training data, the view shows how often each word that is typed occurred there.

    Args:
        model: from `live_model` or `export_model`.
        text: what is recorded, the first that is shown.
        also: further texts whose results are stored with the page.
        traits: as for any widget.
    """

    english = List().tag(sync=True)  # as `live`: the partner, or nothing
    # How many training captions there are, and how often each recorded word occurred there, by key
    seen = Dict(None, allow_none=True).tag(sync=True)

    def __init__(self, model: Exported, *, text: str, also: Sequence[str] = (), **traits: Any):
        super().__init__(model, text=text, **traits)
        self.english = [named(model.partner)] if model.partner else []
        self.seen = _counts(model, [text, *also])


def _counts(model: Exported, texts: Sequence[str]) -> dict[str, Any] | None:
    """How often each word of the texts occurred in training; None if the file has no counts."""
    words = json.loads(model.header).get("words")
    if words is None:
        return None
    counts = unpack(words["german"])
    keys = (word_key(word) for text in texts for word in words_in(text))
    found = {key: counts.get(key, 0) for key in keys}
    return {"captions": words["captions"], "counts": found}
