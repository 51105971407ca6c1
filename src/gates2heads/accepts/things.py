"""Objects as arguments: models, functions, lists, instances of our own classes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import nn

from gates2heads.accepts.declare import Call, Kind
from gates2heads.accepts.shown import shown


@dataclass(frozen=True)
class instance(Kind):  # noqa: N801
    """An instance of a class, or of one of several; `source` says how to obtain one."""

    kind: type | tuple[type, ...]
    source: str = ""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, self.kind):
            kinds = self.kind if isinstance(self.kind, tuple) else (self.kind,)
            wanted = " or ".join(one.__name__ for one in kinds)
            source = f", {self.source}" if self.source else ""
            article = "an" if wanted[0] in "AEIOU" else "a"
            raise TypeError(f"{name} must be {article} {wanted}{source}, got {shown(value)}")


@dataclass(frozen=True)
class Module(Kind):
    """A layer or a model, not its class."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, nn.Module):
            raise TypeError(f"{name} must be a torch.nn.Module, got {shown(value)}")


@dataclass(frozen=True)
class Generator(Kind):
    """A generator of torch, or None."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, torch.Generator | None):
            raise TypeError(f"{name} must be a torch.Generator, got {shown(value)}")


@dataclass(frozen=True)
class function(Kind):  # noqa: N801
    """A callable, such as `function("state", "last_tokens")`; a class is not accepted."""

    takes: tuple[str, ...]

    def __init__(self, *takes: str):
        object.__setattr__(self, "takes", takes)

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if isinstance(value, type) or not callable(value) or not self._fits(value):
            wanted = ", ".join(self.takes)
            raise TypeError(f"{name} must be a function of ({wanted}), got {shown(value)}")

    def _fits(self, value: Callable) -> bool:
        try:
            signature(getattr(value, "forward", value)).bind(*self.takes)
        except TypeError:
            return False
        except ValueError:  # a function without a signature
            return True
        return True


@dataclass(frozen=True)
class listed(Kind):  # noqa: N801
    """An iterable other than a string; `of` describes its elements, each of `kind`."""

    of: str = "values"
    kind: Kind | None = None
    least: int = 0

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        single = getattr(value, "ndim", 1) == 0  # a tensor or array without axes
        used_up = self.kind is not None and isinstance(value, Iterator)  # by checking it
        if isinstance(value, str | bytes) or not isinstance(value, Iterable) or single or used_up:
            raise TypeError(f"{name} must be a list of {self.of}, got {shown(value)}")
        if self.least and hasattr(value, "__len__") and len(value) < self.least:
            raise ValueError(f"{name} must hold at least {self.least} {self.of}, got {len(value)}")
        if self.kind is not None:
            for index, one in enumerate(value):
                self.kind.check(f"{name}[{index}]", one)


@dataclass(frozen=True)
class mapping(Kind):  # noqa: N801
    """A mapping; `of` describes its keys and values."""

    of: str = "names to values"

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} must map {self.of}, got {shown(value)}")


@dataclass(frozen=True)
class maybe(Kind):  # noqa: N801
    """None, or another kind, where the default is not None."""

    kind: Kind

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        if value is not None:
            self.kind.check(name, value, call)


module, generator = Module(), Generator()
