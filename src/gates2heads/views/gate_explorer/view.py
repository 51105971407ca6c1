"""The gates of a recurrent network at work on what the reader types, free or clamped."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from traitlets import Bool, Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import (
    accepts,
    choice,
    fraction,
    instance,
    listed,
    mapping,
    natural,
    string,
)
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import (
    FAR,
    LiveView,
    labels_of,
    single_precision,
    words,
)
from gates2heads.views.kit.view import PositionError, ShowMe, module, style

GATES = ("reset", "update", "forget", "input", "output")
QUANTITIES = (*GATES, "candidate", "cell", "hidden")
_MOST = 32767  # numbers are sent as integers of two bytes, with one scale per quantity


class FoundUnit(NamedTuple):
    """A unit that a measurement found, for a button."""

    model: str  # whose unit it is, by its name in the view
    unit: int  # counted from 0
    name: str  # what it indicates, in a word: "brackets"
    told: str = ""  # how well, and how this was measured, in a sentence


@accepts(
    models=mapping("names to models"),
    examples=words(least=1),
    labels=words,
    found=listed("units", instance(FoundUnit)),
    title=string,
    label=string,
    hint=string,
    about=string,
    unit=natural(least=0),
    place=natural(least=0),
    quantity=choice(QUANTITIES),
)
class GateExplorer(LiveView):
    """Type Python: see every gate at each character, clamp some of them, and see what changes.

    Below the text are the gates, candidate and state of one unit, and one of these quantities for
    the units that have a button, or for every unit. A gate that is clamped has its value in every
    step, see `clamp_gates`; the run in which nothing is clamped is drawn as a dashed line.

    Source: Karpathy, Johnson and Li 2015, "Visualizing and Understanding Recurrent Networks", for
    colouring a text by one unit's state.

    Args:
        models: networks with gates by name, such as "LSTM" and "GRU", from `export_model`; each is
            a `RecurrentLanguageModel` on characters. The first is shown first.
        examples: texts with a button; the first is the recorded one.
        recorded: the run of the first model on the first example, from `observe_gates`.
        labels: of the buttons of the examples; the texts themselves if left out.
        found: units with a button and a row of their own.
        title: above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        unit, place: which unit and character are shown first, counted from 0.
        quantity: what is shown of several units, one of `QUANTITIES`.
        show_me: `ShowMe` buttons, below the hint.

    Attributes:
        text: the input, synchronised with the view.
        gates: what is clamped, as `clamp_gates` takes it; gates of the other model are left out.
        alone: whether they are clamped in the shown unit alone, or in all.
        model: the index of the shown model, from 0.
        every: whether every unit is shown, or the ones in `found` alone.

    Raises:
        TypeError: the recording is invalid.
        ValueError: numbers that do not fit the text, or a position out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__)

    names = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    found = List().tag(sync=True)
    recorded = Dict().tag(sync=True)
    numbers = Bytes().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    gates = Dict().tag(sync=True)
    alone = Bool(False).tag(sync=True)
    every = Bool(False).tag(sync=True)
    model = Int(0).tag(sync=True)
    unit = Int(0).tag(sync=True)
    place = Int(0).tag(sync=True)
    quantity = Unicode("cell").tag(sync=True)

    _positions = ("model", "unit", "place")

    def __init__(
        self,
        models: Mapping[str, Exported],
        examples: Sequence[str],
        recorded: Any,
        *,
        labels: Sequence[str] | None = None,
        found: Sequence[FoundUnit] = (),
        title: str = "",
        label: str = "Type Python code, up to 400 characters",
        hint: str = "",
        about: str = "",
        unit: int = 0,
        place: int = 0,
        quantity: str = "cell",
        show_me: Sequence[ShowMe] = (),
    ):
        names = list(models)
        words.check("the names of models", names)
        payload, numbers = _payload(recorded, examples[0])
        super().__init__(
            *models.values(),
            names=names,
            examples=list(examples),
            labels=labels_of(examples, labels),
            found=_found(found, names, payload["units"]),
            recorded=payload,
            numbers=numbers,
            text=examples[0],
            quantity=quantity,
            title=title,
            label=label,
            hint=hint,
            about=about,
            show_me=list(show_me),
        )
        self.unit, self.place = unit, place

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "model":
            return len(self.names)
        return self.recorded["units"] if name == "unit" else FAR

    @validate("model", "unit", "place")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("gates")
    def _held(self, proposal: dict[str, Any]) -> dict[str, float]:
        for gate, value in proposal["value"].items():
            if gate not in GATES:
                raise PositionError(f"gates must be of {', '.join(GATES)}, got {shown(gate)}")
            fraction.check(f"gates[{shown(gate)}]", value)
        return proposal["value"]

    def __repr__(self):
        return f"GateExplorer({', '.join(self.names)}, {len(self.examples)} examples)"


def _found(found: Sequence[FoundUnit], names: Sequence[str], units: int) -> list[dict]:
    """What the page receives about the units with a button."""
    entries = []
    for place, one in enumerate(found):
        choice(names).check(f"found[{place}].model", one.model)
        natural(least=0, most=units - 1).check(f"found[{place}].unit", one.unit)
        string.check(f"found[{place}].name", one.name)
        string.check(f"found[{place}].told", one.told)
        entries.append({**one._asdict(), "model": list(names).index(one.model)})
    return entries


def _payload(recorded: Any, text: str) -> tuple[dict, bytes]:
    """What the page receives about the recorded run, and its numbers."""
    if not all(hasattr(recorded, part) for part in ("tokens", "quantities", "log_probs")):
        raise TypeError(f"recorded must be what `observe_gates` gives, got {shown(recorded)}")
    for part in ("tokens", "vocabulary"):
        words.check(f"recorded.{part}", getattr(recorded, part, None))
    tokens, vocabulary = list(recorded.tokens), list(recorded.vocabulary)
    if not tokens or "".join(tokens) != text:
        raise ValueError(f"recorded must be of the first example, got {shown(''.join(tokens))}")
    if not set(tokens) <= set(vocabulary):
        raise ValueError("recorded.tokens must be of recorded.vocabulary, but one is not")
    tables = _tables(recorded.quantities, len(tokens))
    units = next(iter(tables.values())).shape[1]
    log_probs = single_precision(recorded.log_probs, "recorded.log_probs")
    wanted = (len(tokens) + 1, len(vocabulary))
    if log_probs.shape != wanted or log_probs.max() > 0:
        raise ValueError(f"recorded.log_probs must be {wanted} and not above 0")
    tables["logProbs"] = log_probs
    scales = {name: float(np.abs(table).max()) or 1.0 for name, table in tables.items()}
    numbers = b"".join(
        (table / scales[name] * _MOST).round().astype("<i2").tobytes()
        for name, table in tables.items()
    )
    payload = {"tokens": tokens, "vocabulary": vocabulary, "units": units}
    return {**payload, "scales": [list(pair) for pair in scales.items()]}, numbers


def _tables(quantities: Mapping[str, Any], length: int) -> dict[str, np.ndarray]:
    """The recorded quantities, each (T, U)."""
    if not isinstance(quantities, Mapping) or not quantities:
        raise TypeError(f"recorded.quantities must be a dict, got {shown(quantities)}")
    tables, wanted = {}, None
    for name, values in quantities.items():
        choice(QUANTITIES).check("each of recorded.quantities", name)
        table = single_precision(values, f"recorded.quantities[{shown(name)}]")
        wanted = wanted or (length, *table.shape[1:2])
        if table.shape != wanted or len(wanted) != 2 or not wanted[1]:
            expected = f"{wanted}" if len(wanted) == 2 else "(T, U)"
            raise ValueError(
                f"recorded.quantities[{shown(name)}] must be {expected}, got {table.shape}"
            )
        tables[name] = table
    return tables
