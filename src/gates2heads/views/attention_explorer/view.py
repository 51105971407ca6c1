"""Small translation models: what each outputs, where it attends, and the numbers behind it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from traitlets import Bytes, Int, List, Unicode, validate

from gates2heads.accepts import accepts, choice, listed, mapping, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.figures.arguments import check_shares
from gates2heads.views.kit.live_view import (
    FAR,
    LiveView,
    exported,
    labels_of,
    single_precision,
    words,
)
from gates2heads.views.kit.view import module, style


@accepts(
    readings=mapping("names to readings"),
    models=listed("models", exported, least=1),
    examples=words(least=1),
    labels=words,
    title=string,
    label=string,
    hint=string,
    separator=string,
)
class AttentionExplorer(LiveView):
    """Type a text; several models translate it and show their alignments.

    Source: the alignment matrices of Bahdanau et al. 2015, fig. 3, with the scores behind them.

    Args:
        readings: for each model, by name, what Python recorded of the first example: an object
            with `source` (S tokens), `target` (T tokens), and `weights` and `scores` (T, S), both
            None for a model without attention. All have the same source.
        models: as many models, in the same order, from `export_model`.
        examples: texts to click; the first is the recorded one.
        labels: the names of the examples on their buttons; the texts themselves if left out.
        title: shown above the view.
        label: the label of the input field, beside it.
        hint: a suggestion, in one line.
        separator: separates the parts of a list; the models get it with a space on each side,
            however it was typed; empty if the models read no lists.
        selected: the model that is shown first, by its name; the last one if not given.

    Attributes:
        text: the input, synchronised with the view.
        selected: the position of the shown model, counted from 0.
        step: the shown step, counted from 0.

    Raises:
        TypeError: an invalid reading.
        ValueError: other numbers of models, weights that do not fit the tokens, or a name that no
            model has.
    """

    _esm = module(__file__)
    _css = style(__file__)

    names = List(Unicode()).tag(sync=True)
    readings = List().tag(sync=True)
    maps = Bytes().tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    label = Unicode().tag(sync=True)
    separator = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    selected = Int(0).tag(sync=True)
    step = Int(0).tag(sync=True)

    _positions = ("selected", "step")

    def __init__(
        self,
        readings: Mapping[str, Any],
        models: Sequence[Exported],
        examples: Sequence[str],
        *,
        labels: Sequence[str] | None = None,
        title: str = "",
        label: str = "Type a date",
        hint: str = "",
        separator: str = "",
        selected: str | None = None,
        **traits: Any,
    ):
        _check_readings(readings)
        if len(models) != len(readings):
            raise ValueError(f"models must be {len(readings)}, one a reader, got {len(models)}")
        names = list(readings)
        if selected is not None:
            choice(names).check("selected", selected)
        payload = [_payload(name, reading) for name, reading in readings.items()]
        super().__init__(
            *models,
            names=names,
            readings=[entry for entry, _ in payload],
            maps=b"".join(each.tobytes() for _, maps in payload for each in maps),
            examples=list(examples),
            labels=labels_of(examples, labels),
            title=title,
            label=label,
            hint=hint,
            separator=separator,
            text=examples[0],
            **traits,
        )
        self.selected = names.index(selected) if selected is not None else len(names) - 1

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "selected":
            return len(self.names)
        return FAR

    @validate("selected", "step")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    def __repr__(self):
        return f"AttentionExplorer({', '.join(self.names)})"


def _check_readings(readings: Mapping[str, Any]) -> None:
    words.check("the names of readings", list(readings))
    first = None
    for name, reading in readings.items():
        for part in ("source", "target", "weights", "scores"):
            if not hasattr(reading, part):
                raise TypeError(f"readings[{shown(name)}] must have `{part}`, as `observe` gives")
        for side in ("source", "target"):
            words.check(f"readings[{shown(name)}].{side}", getattr(reading, side))
        first = first or list(reading.source)
        if list(reading.source) != first:
            raise ValueError(
                f"readings[{shown(name)}] must read what the first reader reads, got other"
            )


def _payload(name: str, reading: Any) -> tuple[dict, list[np.ndarray]]:
    """The data of a reading for the page, and its maps, weights before scores."""
    entry = {"source": list(reading.source), "target": list(reading.target)}
    if reading.weights is None:
        return {**entry, "looks": False}, []
    shape = (len(reading.target), len(reading.source))
    maps = []
    for part in ("weights", "scores"):
        found = single_precision(getattr(reading, part), f"readings[{shown(name)}].{part}")
        if found.shape != shape:
            raise ValueError(f"readings[{shown(name)}].{part} must be {shape}, got {found.shape}")
        maps.append(found)
    check_shares(f"readings[{shown(name)}].weights", maps[0])
    return {**entry, "looks": True}, maps
