"""Base class of views that run a model in the page: its name, and its bytes on request."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from traitlets import List

from gates2heads.accepts import instance, listed, string
from gates2heads.browser.engine.export import Exported
from gates2heads.browser.live.models import ENGINE, engine_source, key
from gates2heads.figures.arguments import as_numbers
from gates2heads.views.kit.view import View

FAR = 10_000  # positions: a typed text may be longer than the recorded one
_MOST_OF_TWO_BYTES = 65535
PART = 1 << 20  # bytes per message, which servers between kernel and browser accept


words = listed("texts", string)  # such as tokens, as JSON values for a page
exported = instance(Exported, "as `export_model` gives")


def labels_of(examples: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    """The text on the buttons of examples: their labels, or the texts themselves.

    Raises:
        ValueError: there are more or fewer labels than examples.
    """
    if labels is None:
        return list(examples)
    if len(labels) != len(examples):
        raise ValueError(f"labels must name {len(examples)} examples, got {len(labels)}")
    return list(labels)


def packed_shares(shares: np.ndarray) -> bytes:
    """Pack numbers from 0 to 1 (…) for a page: integers of two bytes each."""
    return (shares * _MOST_OF_TWO_BYTES).round().astype("<u2").tobytes()


def single_precision(values: ArrayLike, name: str) -> np.ndarray:
    """Pack numbers (…) for a page, in four bytes each.

    Raises:
        TypeError, ValueError: as in `as_numbers`.
    """
    return as_numbers(values, name, most=np.finfo("<f4").max).astype("<f4")


class LiveView(View):
    """A view of one or more models that run in the page.

    The saved state holds each model's name and hash. In the built book the page loads
    `live/<name>-<hash>.js` and the engine beside it; if a kernel runs, the view requests both over
    its own channel, and they are sent once, in parts. The partner of a model can be requested too.

    Args:
        models: from `export_model`.
        traits: as for any widget.

    Raises:
        TypeError: one of `models` is not exported.
        ValueError: there is none.
    """

    live = List().tag(sync=True)

    def __init__(self, *models: Exported, **traits: Any):
        listed("models", exported, least=1).check("models", models)
        partners = [model.partner for model in models if model.partner]
        self._models = {key(model): model for model in [*models, *partners]}
        super().__init__(live=[named(model) for model in models], **traits)
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Send what the view requests; other messages are ignored."""
        asked = content.get("ask") if isinstance(content, dict) else None
        if asked is None:
            return
        if asked == ENGINE:
            self._send_parts({"model": ENGINE}, engine_source().encode())
        elif asked in self._models:
            model = self._models[asked]
            message = {"header": model.header, "sha256": model.sha256}
            self._send_parts({"model": asked, **message}, model.data)
        else:
            known = " and ".join(self._models)
            self.send({"model": asked, "error": f"Python has {known}, not {asked}."})

    def _send_parts(self, message: dict[str, str], data: bytes) -> None:
        view = memoryview(data)
        parts = [view[start : start + PART] for start in range(0, len(view), PART)]
        for number, part in enumerate(parts):
            self.send({**message, "part": number, "parts": len(parts)}, [part])
            message = {"model": message["model"]}  # the rest is sent once


def named(model: Exported) -> dict[str, Any]:
    """The description of a model that a page has before loading it."""
    _, _, digits = key(model).rpartition("-")
    size = len(model.header) + len(model.data)
    return {"name": model.name, "hash": digits, "sha256": model.sha256, "bytes": size}
