"""Numbers, words and flags as arguments."""

import math
import sys
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from gates2heads.accepts.declare import Call, Kind
from gates2heads.accepts.shown import shown

MOST = 2**31 - 1  # no axis, loop or token number is larger
LARGEST = sys.float_info.max
LARGEST_SINGLE = float(np.finfo(np.float32).max)  # the largest value of parameters and optimizers


@dataclass(frozen=True)
class Natural(Kind):
    """A whole number from `least` to `most`."""

    least: int = 1
    most: float = MOST

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
            raise TypeError(f"{name} must be a whole number, got {shown(value)}")
        if not self.least <= value <= self.most:
            low = value < self.least and self.most >= MOST  # then the upper bound is omitted
            bounds = f"at least {self.least}" if low else f"from {self.least} to {self.most}"
            raise ValueError(f"{name} must be {bounds}, got {shown(value)}")


@dataclass(frozen=True)
class Number(Kind):
    """A finite number from `least` to `most`."""

    least: float = -math.inf
    most: float = LARGEST

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        value = _real(name, value)
        if not max(self.least, -LARGEST) <= value <= self.most:
            bound = "" if self.least == -math.inf else f" and at least {self.least:g}"
            bound += f" and at most {self.most:g}" if self.most < value < math.inf else ""
            raise ValueError(f"{name} must be finite{bound}, got {shown(value)}")


@dataclass(frozen=True)
class Positive(Kind):
    """A finite number above zero, up to `most`."""

    most: float = LARGEST

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        value = _real(name, value)
        if not 0 < value <= self.most:
            bound = f"at most {self.most:g}" if self.most < value < math.inf else "finite"
            raise ValueError(f"{name} must be positive and {bound}, got {shown(value)}")


@dataclass(frozen=True)
class Fraction(Kind):
    """A number from 0 to 1, of a type that PyTorch's dropout accepts."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        value = _real(name, value)
        if not isinstance(value, int | float):
            raise TypeError(f"{name} must be a float, got {shown(value)}")
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {shown(value)}")


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, got {shown(value)}")


@dataclass(frozen=True)
class choice(Kind):  # noqa: N801  (read as a word in a declaration, as all kinds are)
    """One of several words, which may be the keys of a registry."""

    words: Collection[str]

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"{name} must be one of {', '.join(self.words)}, got {shown(value)}")


@dataclass(frozen=True)
class String(Kind):
    """A string of whole characters: half of one, as in damaged files, cannot be encoded."""

    empty: bool = True

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string, got {shown(value)}")
        if not self.empty and not value.strip():
            raise ValueError(f"{name} must not be empty, got {shown(value)}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half, place = shown(value[error.start]), error.start
            raise ValueError(
                f"{name} must hold whole characters, got {half}, half of one, at {place}"
            ) from None


@dataclass(frozen=True)
class Strings(Kind):
    """A list of strings; a single string would be iterated by characters."""

    least: int = 0

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if isinstance(value, str | bytes) or not isinstance(value, Collection):
            raise TypeError(f"{name} must be a list of strings, got {shown(value)}")
        for one in value:
            if not isinstance(one, str):
                raise TypeError(f"{name} must be a list of strings, got {shown(one)} in it")
        if len(value) < self.least:
            raise ValueError(f"{name} must hold at least {self.least}, got {len(value)}")


def _real(name: str, value: Any) -> float:
    """The number itself; NumPy's small types cannot be compared with the largest."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    return value.item() if isinstance(value, np.generic) else value


def distinct_seed(seed: int) -> int:
    """A seed for Python's own generator, which ignores the sign and accepts no NumPy integer.

    A negative one is converted to 64 bits, as in PyTorch's generators.
    """
    return int(seed) % 2**64


natural, number, positive, fraction = Natural(), Number(), Positive(), Fraction()
flag, string, strings = Flag(), String(), Strings()
any_seed = Natural(least=-(2**63), most=2**64 - 1)  # the range of torch's generators
