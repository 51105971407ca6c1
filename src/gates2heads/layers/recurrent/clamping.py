"""Clamp gates of a recurrent layer at a value while it runs, to measure their effect."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, fraction, listed, mapping, module
from gates2heads.accepts.shown import shown

Clamp = Callable[[str, Tensor], Tensor]  # a gate's name and values (B, U) to those used

# By the identity of each layer with clamped gates: for each of these gates, by the name under
# which it is recorded, the value of each unit (U,), NaN where it is free. A mark in the layer
# itself would go into its copies.
_CLAMPED: dict[int, dict[str, Tensor]] = {}


def unclamped(gate: str, values: Tensor) -> Tensor:
    """Clamp nothing: a gate's values (B, U) are used as they were computed."""
    return values


def clamp_of(layer: nn.Module, suffix: str = "") -> Clamp:
    """Called by a layer: the function applied to its gates, `unclamped` unless they are clamped.

    Args:
        layer: the layer itself.
        suffix: the suffix of a gate's name when it is recorded, such as "_l0".
    """
    clamped = _CLAMPED.get(id(layer))
    if clamped is None:
        return unclamped

    def clamp(gate: str, values: Tensor) -> Tensor:
        held = clamped.get(gate + suffix)
        if held is None:
            return values
        held = held.to(values)  # (U,)
        return torch.where(held.isnan(), values, held)

    return clamp


@accepts(layer=module, gates=mapping("names of gates to values"), units=listed("whole numbers"))
@contextmanager
def clamp_gates(
    layer: nn.Module, gates: Mapping[str, float], *, units: Iterable[int] | None = None
) -> Iterator[None]:
    """Run a recurrent layer with gates clamped at a value while the block runs.

    A clamped gate is not computed from its input: it has the given value at every step, and no
    gradient flows through it. The recorded gates are those that were used. No parameter changes,
    and nothing is saved.

    Examples: `with clamp_gates(model.recurrent, {"forget": 1.0, "input": 0.0}): model(batch)`
    carries all cells unchanged; `clamp_gates(layer, {"output": 0.0}, units=[7])` hides one of them.

    Args:
        layer: an `LSTM` or `GRU`, or a cell of theirs.
        gates: the gates to clamp, each with a value from 0 to 1: "input", "forget", "output" of a
            long short-term memory, "reset", "update" of a gated recurrent unit. There is one for
            each layer and direction; "forget" is all of these, "forget_l0" one.
        units: which units, counted from 0; all if not given. In nested blocks, the gates of both
            are clamped; where they differ, the inner value is used.

    Raises:
        TypeError: a value of `gates` is not a number, or one of `units` is not a whole number.
        ValueError: the layer has no such gate or unit, or a value lies outside [0, 1].
    """
    names = _names(layer)
    chosen = _units(units, getattr(layer, "hidden_size", 0))
    before = _CLAMPED.get(id(layer))
    clamped = dict(before or {})
    for gate, value in _checked(gates, names).items():
        for name in names[gate]:
            held = clamped.get(
                name, torch.full((layer.hidden_size,), math.nan, dtype=torch.double)
            ).clone()
            held[chosen] = float(value)
            clamped[name] = held
    try:
        if clamped:
            _CLAMPED[id(layer)] = clamped
        yield
    finally:
        _CLAMPED.pop(id(layer), None)
        if before is not None:
            _CLAMPED[id(layer)] = before


def _names(layer: nn.Module) -> dict[str, list[str]]:
    """The names under which gates are recorded, for each name that may be given."""
    gates = getattr(layer, "gates", ())
    depths = range(getattr(layer, "num_layers", 0))
    suffixes = [suffix for depth in depths for suffix in layer._suffixes(depth)] or [""]
    whole = {gate: [gate + suffix for suffix in suffixes] for gate in gates}
    return {**{name: [name] for names in whole.values() for name in names}, **whole}


def _checked(gates: Mapping[str, float], names: Mapping[str, list[str]]) -> Mapping[str, float]:
    """The gates, after checking that the layer has them and that values are in [0, 1]."""
    for gate, value in gates.items():
        if not isinstance(gate, str) or gate not in names:
            known = ", ".join(names) or "none, for it has no gates"
            raise ValueError(f"gates must be of those that layer has, {known}; got {shown(gate)}")
        fraction.check(f"gates[{shown(gate)}]", value)
    return gates


def _units(units: Iterable[int] | None, size: int) -> list[int]:
    """The numbers of the selected units."""
    if units is None:
        return list(range(size))
    chosen = list(units)
    for unit in chosen:
        if not isinstance(unit, int) or isinstance(unit, bool):
            raise TypeError(f"units must be whole numbers, got {shown(unit)}")
        if not 0 <= unit < size:
            raise ValueError(f"units must be from 0 to {size - 1}, got {shown(unit)}")
    return chosen
