"""Tensors: their type, and shapes that are written as in a comment, such as `"B T embed_dim"`.

A capital letter is any size, the same one wherever it occurs in a declaration; a number is itself;
any other word is an argument or an attribute of that name, dots allowed. A first `…` means any
leading axes, the same ones wherever it occurs; alone it is any shape.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gates2heads.accepts.declare import Call, Kind
from gates2heads.accepts.shown import shown

FRONT = "…"


@dataclass(frozen=True)
class anything(Kind):  # noqa: N801  (read as a word in a declaration, as all kinds are)
    """A tensor of any type; without a shape, of any shape. `empty` allows one without elements."""

    shape: str = FRONT
    empty: bool = True
    holds: ClassVar[str] = ""

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The words of the shape."""
        return tuple(self.shape.split())

    @cached_property
    def _sized(self) -> tuple[tuple[str, bool], ...]:
        """The axes with a declared size, and for each whether any size is valid."""
        return tuple((axis, axis[0].isupper()) for axis in self.axes if axis != FRONT)

    @cached_property
    def _open(self) -> bool:
        return FRONT in self.axes

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor{self.holds}, got {shown(value)}")
        call = Call({}) if call is None else call
        self._check_type(name, value, call)
        before = len(call.sizes)
        if not self._fits(value.shape, call):
            call.sizes = dict(list(call.sizes.items())[:before])  # the sizes of other arguments
            raise ValueError(self._misfit(name, tuple(value.shape), call))
        if not self.empty and not value.numel():
            raise ValueError(f"{name} must not be empty, got a tensor of {tuple(value.shape)}")

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        """Reject a tensor of another type, or on another device."""

    def _fits(self, shape: torch.Size, call: Call) -> bool:
        """Whether a shape has the declared axes, each of its known size."""
        sized, known = self._sized, call.sizes
        place = len(shape) - len(sized)  # of the first axis with a declared size
        if place and (place < 0 or not self._open):
            return False
        if self._open and sized and known.setdefault(FRONT, shape[:place]) != shape[:place]:
            return False
        for axis, free in sized:
            size = shape[place]
            if size != (known.setdefault(axis, size) if free else _size(axis, call)):
                return False
            place += 1
        return True

    def _misfit(self, name: str, shape: tuple[int, ...], call: Call) -> str:
        return f"{name} must have shape {self._expected_shape(call)}, got {shape}"

    def _expected_shape(self, call: Call) -> str:
        """The shape in the message, with the sizes of other arguments."""
        axes = [
            axis if axis == FRONT or axis[0].isupper() else _size(axis, call) for axis in self.axes
        ]
        comma = "," if len(axes) == 1 else ""
        known = {axis: call.sizes[axis] for axis in self.axes if axis in call.sizes}
        sizes = [
            f"{axis} = {tuple(size) if axis == FRONT else size}" for axis, size in known.items()
        ]
        where = f" with {' and '.join(sizes)}" if sizes else ""
        return f"({', '.join(map(str, axes))}{comma}){where}"


class floats(anything):  # noqa: N801
    """Floating-point numbers, of the dtype and on the device of the layer's own parameters.

    If the called object has none, of the dtype of the other tensors. Under autocast, layers mix
    precisions, and then any floating-point dtype is accepted.
    """

    holds = " of floating-point numbers"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        like = call.like
        if like is not None and value.dtype == like.dtype and value.device == call.place.device:
            return  # the usual case; the rest composes the message
        if not value.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got {value.dtype}")
        if like is None:
            weight = _weight_of_called(call)
            like = call.like = value if weight is None else weight
        if value.dtype != like.dtype and not torch.is_autocast_enabled(value.device.type):
            expected = f"{like.dtype} like {_reader(like, call)}"
            raise TypeError(f"{name} must be {expected}, got {value.dtype}")
        _check_device(name, value, call)


class bools(anything):  # noqa: N801
    """Boolean values."""

    holds = " of bools"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype != torch.bool:
            raise TypeError(f"{name} must be a bool tensor, got {value.dtype}")
        _check_device(name, value, call)


class boolean_mask(bools):  # noqa: N801
    """Boolean values that broadcast to the shape; True may attend, or is a real token."""

    holds = " of bools (True = may attend)"

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype != torch.bool:
            raise TypeError(f"{name} must be a bool tensor (True = may attend), got {value.dtype}")
        _check_device(name, value, call)

    def _fits(self, shape: torch.Size, call: Call) -> bool:
        wanted = self._wanted(call)
        place = len(wanted) - len(shape)  # of the first axis of the mask
        if place < 0:
            return self._open and FRONT not in call.sizes
        for size in shape:
            if size != 1 and wanted[place] not in (None, size):
                return False
            place += 1
        return True

    def _wanted(self, call: Call) -> list[int | None]:
        """The sizes to which the mask must broadcast; None where any size is valid."""
        known = call.sizes
        wanted = [known.get(axis) if free else _size(axis, call) for axis, free in self._sized]
        return [*known.get(FRONT, ()), *wanted] if self._open else wanted

    def _misfit(self, name: str, shape: tuple[int, ...], call: Call) -> str:
        wanted = self._wanted(call)
        letters = [axis for axis, _ in self._sized]
        letters = [FRONT] * (len(wanted) - len(letters)) + letters
        axes = ", ".join(
            str(axis if size is None else size) for axis, size in zip(letters, wanted, strict=True)
        )
        return f"{name} must broadcast to ({axes}), got a mask of shape {shape}"


@dataclass(frozen=True)
class whole(anything):  # noqa: N801
    """Whole numbers (torch.long or int); with `below`, from 0 up to it, exclusive.

    `below` is a number, an axis, or the name of an argument or attribute, as in a shape.
    """

    below: str | int | None = None
    holds: ClassVar[str] = " of whole numbers"

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        call = Call({}) if call is None else call
        super().check(name, value, call)
        if self.below is None or not value.numel() or value.is_meta:
            return
        below = self.below if isinstance(self.below, int) else _size(self.below, call)
        low, high = (int(end) for end in value.aminmax())
        if low < 0 or high >= below:
            wrong = low if low < 0 else high
            raise ValueError(f"{name} must hold numbers 0 to {below - 1}, got {wrong}")

    def _check_type(self, name: str, value: Tensor, call: Call) -> None:
        if value.dtype not in (torch.long, torch.int):
            raise TypeError(f"{name} must hold integers (torch.long), got {value.dtype}")
        _check_device(name, value, call)


@dataclass(frozen=True)
class tokens(whole):  # noqa: N801
    """Token numbers, at least one of them: `tokens("B S", below="vocabulary_size")`."""

    empty: bool = False
    holds: ClassVar[str] = " of token numbers"


@dataclass(frozen=True)
class counts(anything):  # noqa: N801
    """How often things occur: finite numbers from 0; with `some`, at least one is above 0."""

    empty: bool = False
    some: bool = True
    holds: ClassVar[str] = " of counts"

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        super().check(name, value, call)
        if not value.numel():
            return
        low, high = (float(end) for end in value.aminmax())
        if not 0 <= low <= high < math.inf:
            raise ValueError(f"{name} must hold finite numbers from 0, got {low:g} to {high:g}")
        if self.some and not high:
            raise ValueError(f"{name} must hold at least one number above 0, got only 0")


def _size(axis: str, call: Call) -> int:
    """The size of an axis that is known, a number, or named by an argument or attribute."""
    if axis in call.sizes:
        return call.sizes[axis]
    return int(axis) if axis.isdigit() else call.resolve(axis)


def _check_device(name: str, value: Tensor, call: Call) -> None:
    """Reject a tensor on another device than the layer, or than the previous tensor."""
    like = call.place
    if like is None:
        weight = call.like if call.like is not None else _weight_of_called(call)
        like = call.place = value if weight is None else weight
    if value.device != like.device:
        expected = f"{like.device} like {_reader(like, call)}"
        raise ValueError(f"{name} must be on {expected}, got a tensor on {value.device}")


def _reader(like: Tensor, call: Call) -> str:
    """The name, in a message, of the tensor or layer that a tensor must match."""
    return "the layer" if like is _weight_of_called(call) else "what goes with it"


def _weight_of_called(call: Call) -> Tensor | None:
    called = call.given.get("self")
    return _weight_of(called) if isinstance(called, nn.Module) else None


def _weight_of(module: nn.Module) -> Tensor | None:
    """The first floating-point parameter of a module; None if it has none.

    A search calls this for every layer at every step, and `module.parameters()` alone would take a
    twentieth of its time; so the module's own parameters are looked up first.
    """
    for parameter in module._parameters.values():
        if parameter is not None:
            return parameter
    for child in module._modules.values():
        if child is not None and (weight := _weight_of(child)) is not None:
            return weight
    return None
