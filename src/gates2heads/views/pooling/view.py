"""Attention by hand: a query, a width and a mask, and every number on the way to the context."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from traitlets import Bool, Dict, Float, List, validate

from gates2heads.accepts import accepts, flag, listed, number, positive, string
from gates2heads.figures.arguments import as_numbers
from gates2heads.views.kit.view import PositionError, View, module, style

NARROWEST, WIDEST = 0.05, 20.0  # σ, as a fraction and as a multiple of the gap between the keys
MOST = 12  # slots that fit a phone


@accepts(query=number, width=positive, allowed=listed("flags", flag), title=string, hint=string)
class Pooling(View):
    """Average values on a line, each weighted by how near its key is to the query.

    Source: Nadaraya 1964 and Watson 1964; the score is that of `GaussianScore`.

    Args:
        keys: S numbers, the positions of the slots.
        values: S numbers, the values of the slots.
        query: the initial query.
        width: the initial σ of the Gaussian, in the units of the keys.
        allowed: S truth values, the initial mask; all are allowed if not given.
        title: shown above the view.
        hint: a suggestion, in one line.

    Attributes:
        query, width, allowed: as the reader has set them; may be linked.

    Raises:
        TypeError: the keys or values are not numbers.
        ValueError: no slots or too many, lengths that differ, or a query or width out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__)

    slot_keys = List(Float()).tag(sync=True)  # `keys` is already used for a widget's own traits
    slot_values = List(Float()).tag(sync=True)
    bounds = Dict().tag(sync=True)
    query = Float().tag(sync=True)
    width = Float(1.0).tag(sync=True)
    allowed = List(Bool()).tag(sync=True)

    def __init__(
        self,
        keys: ArrayLike,
        values: ArrayLike,
        *,
        query: float,
        width: float,
        allowed: Sequence[bool] | None = None,
        title: str = "",
        hint: str = "",
        **traits: Any,
    ):
        keys, values = _slots(keys, values)
        super().__init__(
            slot_keys=keys,
            slot_values=values,
            bounds=_bounds(keys),
            title=title,
            hint=hint,
            **traits,
        )
        self.allowed = [True] * len(keys) if allowed is None else list(allowed)
        self.query, self.width = float(query), float(width)

    @validate("query", "width")
    def _inside(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = self.bounds[name]
        if not low <= value <= high:
            raise PositionError(f"{name} must be from {low:g} to {high:g}, got {value:g}")
        return value

    @validate("allowed")
    def _one_a_slot(self, proposal: dict[str, Any]) -> list[bool]:
        if len(proposal["value"]) != len(self.slot_keys):
            raise PositionError(
                f"allowed must have {len(self.slot_keys)} entries, one a slot, "
                f"got {len(proposal['value'])}"
            )
        return proposal["value"]

    def _limits(self) -> dict[str, tuple[float, float]]:
        return self.bounds

    def __repr__(self):
        return f"Pooling({len(self.slot_keys)} slots)"


def _slots(keys: ArrayLike, values: ArrayLike) -> tuple[list[float], list[float]]:
    found = [as_numbers(keys, "keys"), as_numbers(values, "values")]
    if found[0].ndim != 1 or found[0].shape != found[1].shape:
        raise ValueError(
            "keys and values must be two lists of one length, got shapes "
            f"{found[0].shape} and {found[1].shape}"
        )
    if not 2 <= len(found[0]) <= MOST:
        raise ValueError(f"keys must hold 2 to {MOST} slots, got {len(found[0])}")
    if np.ptp(found[0]) == 0:
        raise ValueError(f"keys must not all be the same, got {found[0][0]:g} only")
    return found[0].tolist(), found[1].tolist()


def _bounds(keys: Sequence[float]) -> dict[str, list[float]]:
    """The ranges of the sliders: the query a little beyond the keys, σ from narrow to flat."""
    low, high = min(keys), max(keys)
    gap = (high - low) / (len(keys) - 1)
    return {
        "query": [low - gap, high + gap],
        "width": [NARROWEST * gap, WIDEST * gap],
    }
