"""What nobody should hand over; `attack.py` tries it on every argument of every entry."""

from __future__ import annotations

import math
import random
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

MOST = 2**31 - 1


class Sulky:
    """An object that refuses to be shown, compared, measured or called."""

    def __repr__(self) -> str:
        raise RuntimeError("not shown")

    def __len__(self) -> int:
        raise RuntimeError("not measured")

    def __bool__(self) -> bool:
        raise RuntimeError("not judged")


def _itself() -> list:
    values: list = [1]
    values.append(values)
    return values


NUMBERS = {
    "0": lambda: 0,
    "-0.0": lambda: -0.0,
    "-1": lambda: -1,
    "1": lambda: 1,
    "2": lambda: 2,
    "7": lambda: 7,
    "-7": lambda: -7,
    "2**31 - 1": lambda: MOST,
    "2**31": lambda: MOST + 1,
    "2**62": lambda: 2**62,
    "-2**63": lambda: -(2**63),
    "2**64": lambda: 2**64,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "0.5": lambda: 0.5,
    "2.5": lambda: 2.5,
    "1e-46": lambda: 1e-46,
    "5e-324": lambda: 5e-324,
    "1e38": lambda: 1e38,
    "1e200": lambda: 1e200,
    "-1e308": lambda: -1e308,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1j": lambda: 1j,
    "True": lambda: True,
    "False": lambda: False,
    "Fraction(1, 3)": lambda: Fraction(1, 3),
    "Decimal('0.3')": lambda: Decimal("0.3"),
    "np.int64(3)": lambda: np.int64(3),
    "np.int64(-3)": lambda: np.int64(-3),
    "np.uint8(3)": lambda: np.uint8(3),
    "np.float32(0.5)": lambda: np.float32(0.5),
    "np.float64('nan')": lambda: np.float64("nan"),
    "np.bool_(True)": lambda: np.bool_(True),
}
TEXTS = {
    "''": lambda: "",
    "' '": lambda: " ",
    "'a'": lambda: "a",
    "'one\\ntwo'": lambda: "one\ntwo",
    "lone surrogate": lambda: "a\ud83d",
    "zero byte": lambda: "a\x00b",
    "line separator": lambda: "a\u2028b",
    "100,000 characters": lambda: "x" * 100_000,
    "'{}%s\\\\'": lambda: "{}%s\\",
    "'<eos>'": lambda: "<eos>",
    "b'a'": lambda: b"a",
    "bytearray": lambda: bytearray(b"a\n"),
    "np.str_": lambda: np.str_("a"),
    "Path": lambda: Path("no/such\nplace"),
}
THINGS = {
    "None": lambda: None,
    "...": lambda: ...,
    "object()": object,
    "int": lambda: int,
    "nn.Linear": lambda: nn.Linear,
    "nn.Linear(2, 2)": lambda: nn.Linear(2, 2),
    "meta module": lambda: nn.Linear(2, 2, device="meta"),
    "math": lambda: math,
    "len": lambda: len,
    "function": lambda: lambda *_, **__: None,
    "function that raises": lambda: lambda *_, **__: {}["a"],
    "function that gives itself": lambda: lambda *given, **_: given,
    "Sulky()": Sulky,
    "namespace": lambda: SimpleNamespace(a=1),
    "date": lambda: date(2024, 2, 29),
    "torch.Generator()": torch.Generator,
    "np.random.default_rng(0)": lambda: np.random.default_rng(0),
    "torch.float32": lambda: torch.float32,
    "torch.Size": lambda: torch.Size([2]),
    "ValueError('x')": lambda: ValueError("x"),
    "slice": lambda: slice(None),
}
LISTS = {
    "[]": list,
    "()": tuple,
    "{}": dict,
    "set()": set,
    "[None]": lambda: [None],
    "[[]]": lambda: [[]],
    "['a\\nb']": lambda: ["a\nb"],
    "['']": lambda: [""],
    "[surrogate]": lambda: ["\udc80"],
    "[10**5000]": lambda: [10**5000],
    "[2**62]": lambda: [2**62],
    "[-1]": lambda: [-1],
    "[nan]": lambda: [math.nan],
    "[1, 'a']": lambda: [1, "a"],
    "[[1], [1, 2]]": lambda: [[1], [1, 2]],
    "[tensor]": lambda: [torch.ones(2)],
    "[array]": lambda: [np.ones(2)],
    "list in itself": _itself,
    "range(3)": lambda: range(3),
    "generator": lambda: (number for number in range(3)),
    "{1: 2}": lambda: {1: 2},
    "{'a': nan}": lambda: {"a": math.nan},
    "defaultdict": lambda: defaultdict(list),
    "OrderedDict": lambda: OrderedDict(a=1),
    "frozenset": lambda: frozenset("ab"),
}
ARRAYS = {
    "np.zeros(0)": lambda: np.zeros(0),
    "np.array(3)": lambda: np.array(3),
    "np.ones((2, 3))": lambda: np.ones((2, 3)),
    "np object array": lambda: np.array([None, "a"], dtype=object),
    "np text array": lambda: np.array(["a\nb", "c"]),
    "np NaN": lambda: np.full((2, 2), np.nan),
    "np complex": lambda: np.ones(2, dtype=complex),
    "np int8": lambda: np.ones(2, dtype=np.int8),
}
TENSORS = {
    "0-d": lambda: torch.tensor(3),
    "0-d float": lambda: torch.tensor(0.5),
    "empty": lambda: torch.zeros(0),
    "no rows": lambda: torch.zeros(0, 5),
    "(2, 5) long": lambda: torch.full((2, 5), 3),
    "(2, 5) 2**62": lambda: torch.full((2, 5), 2**62),
    "(2, 5) bool": lambda: torch.ones(2, 5, dtype=torch.bool),
    "NaN": lambda: torch.full((2, 5), math.nan),
    "infinite": lambda: torch.full((2, 5), math.inf),
    "six axes": lambda: torch.ones(1, 1, 1, 1, 1, 1),
    "meta": lambda: torch.ones(2, 5, device="meta"),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "csr": lambda: _csr(torch.eye(3)),
    "complex": lambda: torch.ones(2, 5, dtype=torch.complex64),
    "int8": lambda: torch.ones(2, 5, dtype=torch.int8),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(2, 5), 0.1, 0, torch.qint8),
    "parameter": lambda: nn.Parameter(torch.ones(2, 5)),
    "needs a gradient": lambda: torch.ones(2, 5, requires_grad=True),
    "not contiguous": lambda: torch.ones(5, 2).T,
    "expanded": lambda: torch.ones(1, 1).expand(2, 5),
}
POOL = {**NUMBERS, **TEXTS, **THINGS, **LISTS, **ARRAYS, **TENSORS}


def _csr(dense: Tensor) -> Tensor:
    indices = dense.nonzero()
    rows = torch.arange(len(dense) + 1)
    return torch.sparse_csr_tensor(rows, indices[:, 1], dense[indices[:, 0], indices[:, 1]])


def _strided(good: Tensor) -> Tensor:
    """Equal numbers that do not stand side by side."""
    wide = good.new_zeros(*good.shape, 2)
    wide[..., 0] = good
    return wide[..., 0]


OF_TENSORS = {
    "on meta": lambda good: good.to("meta"),
    "sparse": lambda good: good.to_sparse(),
    "complex": lambda good: good.to(torch.complex64),
    "int32": lambda good: good.to(torch.int32),
    "int8": lambda good: good.to(torch.int8),
    "double": lambda good: good.double(),
    "half": lambda good: good.half(),
    "bfloat16": lambda good: good.bfloat16(),
    "bool": lambda good: good.bool(),
    "array": lambda good: good.detach().numpy(),
    "list": lambda good: good.tolist(),
    "strided": _strided,
    "parameter": lambda good: nn.Parameter(good.float()),
    "another axis": lambda good: good[None],
    "no rows": lambda good: good[:0],
    "no columns": lambda good: good[..., :0],
    "one row less": lambda good: good[1:],
    "one column less": lambda good: good[..., 1:],
    "twice": lambda good: torch.cat([good, good]),
    "first row": lambda good: good[0],
    "turned": lambda good: good.mT,
    "negative": lambda good: -1 - good,
    "huge": lambda good: good * 1e38,
    "far": lambda good: good + 2**40,
    "NaN": lambda good: good * math.nan,
    "zero": lambda good: good * 0,
}
OF_LISTS = {
    "empty": lambda good: type(good)(()),
    "with None": lambda good: [*good, None],
    "with NaN": lambda good: [*good, math.nan],
    "with an object": lambda good: [*good, object()],
    "twice": lambda good: [*good, *good],
    "one less": lambda good: list(good)[1:],
    "one deeper": lambda good: [good],
    "array": np.array,
    "object array": lambda good: np.array(good, dtype=object),
    "tuple": tuple,
    "generator": lambda good: (part for part in good),
    "with a surrogate": lambda good: [*good, "\ud83d"],
    "first": lambda good: good[0],
}
OF_NUMBERS = {
    "numpy": np.int64,
    "array": np.array,
    "tensor": torch.tensor,
    "float": float,
    "text": str,
    "negative": lambda good: -good,
    "one more": lambda good: good + 1,
    "thousandfold": lambda good: good * 1000,
    "in a list": lambda good: [good],
}
OF_TEXTS = {
    "with a line": lambda good: f"{good}\n",
    "with a surrogate": lambda good: f"{good}\udc80",
    "bytes": lambda good: good.encode(),
    "numpy": np.str_,
    "in a list": lambda good: [good],
    "space": lambda good: f" {good}",
}
OF_MODULES = {
    "on meta": lambda good: deepcopy(good).to("meta"),
    "double": lambda good: deepcopy(good).double(),
    "its class": type,
    "its state": lambda good: good.state_dict(),
}


def relatives(good: Any) -> dict:
    """What looks like a good value and has something wrong; each still to be made from it."""
    if isinstance(good, Tensor):
        return OF_TENSORS
    if isinstance(good, nn.Module):
        return OF_MODULES
    if isinstance(good, str):
        return OF_TEXTS
    if isinstance(good, int | float) and not isinstance(good, bool):
        return OF_NUMBERS
    if type(good) in (list, tuple) and good:
        return OF_LISTS
    return {}


def draw(good: Any, dice: random.Random) -> tuple[str, Any]:
    """Draw a nasty value for an argument whose good value is known: its name, and the value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of its own unfinished kinds of tensors
        return _drawn(good, dice)


def _drawn(good: Any, dice: random.Random) -> tuple[str, Any]:
    kin = relatives(good)
    if kin and dice.random() < 0.4:
        name = dice.choice(sorted(kin))
        try:
            return f"the good one, {name}", kin[name](good)
        except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError):
            return _drawn(None, dice)  # there is no such relative of this one
    name = dice.choice(sorted(POOL))
    return name, POOL[name]()
