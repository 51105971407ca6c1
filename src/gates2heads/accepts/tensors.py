"""Tensors: their type, and shapes that are written as in a comment, such as `"B T embed_dim"`.

A capital letter is any size, the same one wherever it occurs in a declaration; a number is itself;
any other word is an argument or an attribute of that name, dots allowed. A first `…` stands for
any axes in front.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gates2heads.accepts.declare import Call, Kind
from gates2heads.accepts.shown import shown


@dataclass(frozen=True)
class anything(Kind):  # noqa: N801  (read as a word in a declaration, as all kinds are)
    """A tensor of any type; without a shape, of any shape. `empty` allows one without numbers."""

    shape: str = "…"
    empty: bool = True
    holds: ClassVar[str] = ""

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The words of the shape."""
        return tuple(self.shape.split())

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        call = Call({}) if call is None else call
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor{self.holds}, got {shown(value)}")
        self._check_type(name, value, call)
        if not self._fits(tuple(value.shape), call):
            raise ValueError(f"{name} must have shape {self._told(call)}, got {tuple(value.shape)}")
        if not self.empty and not value.numel():
            raise ValueError(f"{name} must not be empty, got a tensor of {tuple(value.shape)}")
        self._check_numbers(name, value, call)

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        """Refuse a tensor of another type."""

    def _check_numbers(self, name: str, value: Tensor, call: Call) -> None:
        """Refuse numbers that are out of range."""

    def _fits(self, shape: tuple[int, ...], call: Call) -> bool:
        axes = self.axes
        if axes and axes[0] == "…":
            axes = axes[1:]
            shape = shape[max(0, len(shape) - len(axes)) :]
        if len(shape) != len(axes):
            return False
        new = {}
        for axis, size in zip(axes, shape, strict=True):
            wanted = _size(axis, call)
            if wanted is None:
                wanted = new.setdefault(axis, size)
            if wanted != size:
                return False
        call.sizes.update(new)
        return True

    def _told(self, call: Call) -> str:
        """The shape as the sentence tells it, with the sizes that other arguments have shown."""
        told = [
            axis if axis == "…" or axis[0].isupper() else _size(axis, call) for axis in self.axes
        ]
        comma = "," if len(told) == 1 else ""
        known = [f"{axis} = {call.sizes[axis]}" for axis in self.axes if axis in call.sizes]
        where = f" with {' and '.join(dict.fromkeys(known))}" if known else ""
        return f"({', '.join(map(str, told))}{comma}){where}"


class floats(anything):  # noqa: N801
    """Floating-point numbers, of the dtype and on the device of the layer's own parameters.

    Where the object that is called has none, of the dtype of the other tensors. Under autocast,
    layers mix precisions on purpose, and then floating point is enough.
    """

    holds = " of floating-point numbers"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if not value.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got {value.dtype}")
        if call.like is None:
            called = call.given.get("self")
            weight = _weight_of(called) if isinstance(called, nn.Module) else None
            call.like = value if weight is None else weight
        like = call.like
        if value.dtype != like.dtype and not torch.is_autocast_enabled(value.device.type):
            raise TypeError(f"{name} must be {like.dtype} like the layer, got {value.dtype}")
        if value.device != like.device:
            raise ValueError(f"{name} must be on {like.device} like the layer, got {value.device}")


class bools(anything):  # noqa: N801
    """Truths."""

    holds = " of bools"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype != torch.bool:
            raise TypeError(f"{name} must be a bool tensor, got {value.dtype}")


class mask(bools):  # noqa: N801
    """Truths that broadcast to the shape; True may attend, or is a real token."""

    holds = " of bools (True = may attend)"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype != torch.bool:
            raise TypeError(f"{name} must be a bool tensor (True = may attend), got {value.dtype}")

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        call = Call({}) if call is None else call
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor{self.holds}, got {shown(value)}")
        self._check_type(name, value, call)
        wanted = [_size(axis, call) for axis in self.axes]
        shape = tuple(value.shape)
        fits = len(shape) <= len(wanted) and all(
            size in (1, want) or want is None
            for size, want in zip(shape[::-1], wanted[::-1], strict=False)
        )
        if not fits:
            told = ", ".join(str(w or axis) for w, axis in zip(wanted, self.axes, strict=True))
            raise ValueError(f"{name} must broadcast to ({told}), got a mask of shape {shape}")


@dataclass(frozen=True)
class whole(anything):  # noqa: N801
    """Whole numbers (torch.long or int); with `below`, from 0 up to it, itself excluded.

    `below` is a number, an axis, or the name of an argument or attribute, as in a shape.
    """

    below: str | int | None = None
    holds: ClassVar[str] = " of whole numbers"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype not in (torch.long, torch.int):
            raise TypeError(f"{name} must hold integers (torch.long), got {value.dtype}")

    def _check_numbers(self, name: str, value: Tensor, call: Call) -> None:
        if self.below is None or not value.numel():
            return
        below = self.below if isinstance(self.below, int) else _size(self.below, call)
        low, high = (int(end) for end in value.aminmax())
        if low < 0 or high >= below:
            wrong = low if low < 0 else high
            raise ValueError(f"{name} must hold numbers 0 to {below - 1}, got {wrong}")


@dataclass(frozen=True)
class tokens(whole):  # noqa: N801
    """Token numbers, at least one of them: `tokens("B S", below="vocabulary_size")`."""

    empty: bool = False
    holds: ClassVar[str] = " of token numbers"


def _size(axis: str, call: Call) -> int | None:
    """The size that an axis must have in this call; None while any will do."""
    if axis in call.sizes:
        return call.sizes[axis]
    if axis[0].isupper() or axis == "…":
        return None
    return int(axis) if axis.isdigit() else int(call.look_up(axis))


def _weight_of(module: nn.Module) -> Tensor | None:
    """The first floating-point parameter of a module; None where it has none.

    A search asks this of every layer at every step, and `module.parameters()` alone would take a
    twentieth of its time; so the module's own parameters are looked up first.
    """
    for parameter in module._parameters.values():
        if parameter is not None:
            return parameter
    for child in module._modules.values():
        if child is not None and (weight := _weight_of(child)) is not None:
            return weight
    return None
