"""What every view has that runs a model in the page: the model's name, and its bytes if asked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from traitlets import List

from gates2heads.accepts.shown import shown
from gates2heads.checks.figures import numbers
from gates2heads.checks.values import check_characters, check_texts
from gates2heads.display.engine.export import Exported
from gates2heads.display.live.models import ENGINE, engine_source, key
from gates2heads.display.widgets.view import View

FAR = 10_000  # places: what is typed in a page may be longer than what was recorded
_MOST_OF_TWO_BYTES = 65535
PART = 1 << 20  # bytes a message: what the servers between kernel and browser carry without harm


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse what is not a list of texts that JSON can carry to a page, such as tokens.

    Raises:
        TypeError: it is no list of strings.
        ValueError: one of them holds half a character.
    """
    if not isinstance(words, Sequence):
        raise TypeError(f"{name} must be a list of strings, got {shown(words)}")
    check_texts(name, words)
    for word in words:
        check_characters(name, word)


def check_examples(examples: Sequence[str]) -> None:
    """Refuse what is no list of texts to press.

    Raises:
        TypeError: it is no list of strings.
        ValueError: it is empty, or one of them holds half a character.
    """
    check_words("examples", examples)
    if not len(examples):
        raise ValueError("examples must hold at least one text, got none")


def check_models(models: Mapping[str, Exported], *, of: str = "models") -> None:
    """Refuse what does not map names to models that run in the page.

    Raises:
        TypeError: it is no mapping, a name is no string, or a model is not exported.
        ValueError: it is empty, or a name holds half a character.
    """
    if not isinstance(models, Mapping):
        raise TypeError(f"models must map names to {of}, got {shown(models)}")
    if not models:
        raise ValueError(f"models must hold at least one {of.removesuffix('s')}, got none")
    check_words("the names of models", list(models))
    for name, model in models.items():
        _check_exported(f"models[{shown(name)}]", model)


def labels_of(examples: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    """Give what stands on the buttons of examples: their labels, or the texts themselves.

    Raises:
        TypeError: `labels` is no list of strings.
        ValueError: there are more or fewer labels than examples.
    """
    if labels is None:
        return list(examples)
    check_words("labels", labels)
    if len(labels) != len(examples):
        raise ValueError(f"labels must name {len(examples)} examples, got {len(labels)}")
    return list(labels)


def packed_shares(shares: np.ndarray) -> bytes:
    """Pack numbers from 0 to 1 (…) as they travel to a page: whole numbers of two bytes each."""
    return (shares * _MOST_OF_TWO_BYTES).round().astype("<u2").tobytes()


def single_precision(values: ArrayLike, name: str) -> np.ndarray:
    """Take numbers (…) as they travel to a page, in four bytes each.

    Raises:
        TypeError, ValueError: as in `numbers`.
    """
    return numbers(values, name, most=np.finfo("<f4").max).astype("<f4")


class LiveView(View):
    """A view of one or more models that run in the page.

    The saved state holds each model's name and hash. In the built book the page loads
    `live/<name>-<hash>.js` and the engine beside it; where Python is there, the view asks for both
    over its own channel, and they are sent once, in parts.

    Args:
        models: from `export_model`.
        traits: as for any widget.

    Raises:
        TypeError: one of `models` is none.
    """

    live = List().tag(sync=True)

    def __init__(self, *models: Exported, **traits: Any):
        for model in models:
            _check_exported("model", model)
        self._models = {key(model): model for model in models}
        super().__init__(live=[_named(model) for model in models], **traits)
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Send what the view asks for; what is no such question is for others."""
        asked = content.get("ask") if isinstance(content, dict) else None
        if asked is None:
            return
        if asked == ENGINE:
            self._send_parts({"model": ENGINE}, engine_source().encode())
        elif asked in self._models:
            model = self._models[asked]
            told = {"header": model.header, "sha256": model.sha256}
            self._send_parts({"model": asked, **told}, model.data)
        else:
            known = " and ".join(self._models)
            self.send({"model": asked, "error": f"Python has {known}, not {asked}."})

    def _send_parts(self, told: dict[str, str], data: bytes) -> None:
        view = memoryview(data)
        parts = [view[start : start + PART] for start in range(0, len(view), PART)]
        for number, part in enumerate(parts):
            self.send({**told, "part": number, "parts": len(parts)}, [part])
            told = {"model": told["model"]}  # the rest is told once


def _named(model: Exported) -> dict[str, Any]:
    """What a page is told of a model before it loads it."""
    _, _, digits = key(model).rpartition("-")
    size = len(model.header) + len(model.data)
    return {"name": model.name, "hash": digits, "sha256": model.sha256, "bytes": size}


def _check_exported(name: str, model: Exported) -> None:
    if not isinstance(model, Exported):
        raise TypeError(
            f"{name} must be exported for the page, as `export_model` does, got "
            f"{type(model).__name__}"
        )
