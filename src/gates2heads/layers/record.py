"""Record the intermediate values of a forward pass while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, module, natural
from gates2heads.accepts.shown import shown

# By the identity of each layer that is recorded now, its trace and its name there. A mark in the
# layer itself would go into its copies too, and would never be taken off them.
_RECORDERS: dict[int, tuple["Trace", str]] = {}


class Trace:
    """The values that the layers of a model recorded, by layer name and then by quantity.

    `trace["decoder.attention"]["weights"]` is the list of that layer's values under that name, one
    tensor for each call of the layer.
    """

    def __init__(self):
        self._notes: dict[str, dict[str, list[Tensor]]] = {}

    def __getitem__(self, layer: str) -> dict[str, list[Tensor]]:
        if not isinstance(layer, str) or layer not in self._notes:
            known = ", ".join(self._notes) or "nothing"
            raise KeyError(f"layer {shown(layer)} noted nothing; recorded: {known}")
        return self._notes[layer]

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)

    def __repr__(self) -> str:
        return f"Trace({', '.join(self._notes)})"

    def add(self, layer: str, **tensors: Tensor) -> None:
        """Append one value per quantity, detached from the graph."""
        notes = self._notes.setdefault(layer, {})
        for quantity, tensor in tensors.items():
            notes.setdefault(quantity, []).append(tensor.detach())

    def joined(self, layer: str, quantity: str, *, dim: int = 1) -> Tensor:
        """All values of one quantity, concatenated along `dim` (1: the time axis)."""
        notes = self[layer]
        if not isinstance(quantity, str) or quantity not in notes:
            raise KeyError(f"layer {shown(layer)} noted {', '.join(notes)}, not {shown(quantity)}")
        axes = notes[quantity][0].dim()
        natural(least=-axes, most=axes - 1).check("dim", dim)
        return torch.cat(notes[quantity], dim=dim)


@accepts(model=module)
@contextmanager
def record(model: nn.Module) -> Iterator[Trace]:
    """Collect the values that the layers of `model` record while the block runs.

    Example: `with record(model) as trace: model(batch)`.

    Raises:
        RuntimeError: the model is being recorded already.
    """
    modules = dict(model.named_modules())
    if any(is_recorded(module) for module in modules.values()):
        raise RuntimeError("model is being recorded already; leave the first `with record` first")
    trace = Trace()
    try:
        _RECORDERS.update({id(module): (trace, name) for name, module in modules.items()})
        yield trace
    finally:
        for module in modules.values():
            _RECORDERS.pop(id(module), None)


def is_recorded(module: nn.Module) -> bool:
    """Whether this layer is being recorded, so that it may use a faster path if not."""
    return id(module) in _RECORDERS


def note(module: nn.Module, **tensors: Tensor) -> None:
    """Called by a layer: keep these tensors if it is being recorded, otherwise do nothing."""
    recorder = _RECORDERS.get(id(module))
    if recorder is not None:
        trace, name = recorder
        trace.add(name, **tensors)
