"""Chapter 7, Transformer: checks of the exercises on generation with a cache."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def cached_step(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor):
    """The solution of exercise 7.5: query, key, value (K,), cached keys, values (t, K)."""
    keys, values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
    weights = (keys @ query / len(query) ** 0.5).softmax(0)
    return weights @ values, keys, values


def _stepped(*, itself=True, scale=True, front=False, kept=True) -> Callable:
    """A step with one mistake."""

    def wrong(query, key, value, keys, values):
        both = [(keys, key[None]), (values, value[None])]
        grown = [torch.cat(pair[::-1] if front else pair) for pair in both]
        read = grown if itself else [keys, values]
        scores = read[0] @ query
        weights = (scores / len(query) ** 0.5 if scale else scores).softmax(0)
        return weights @ read[1], *(grown if kept else (keys, values))

    return wrong


def _step_cases() -> list[Case]:
    one, empty = torch.ones(1), torch.zeros(0, 1)
    logs, values = torch.tensor([[0.0], [math.log(2)]]), torch.tensor([[6.0], [12.0]])
    return [
        Case("the first step, with an empty cache", (one, one, 4 * one, empty, empty)),
        Case(
            "K = 1, with products 0, ln 2 and ln 3 and values 6, 12 and 0",
            (one, math.log(3) * one, 0 * one, logs, values),
        ),
        Case(
            "K = 5, with seven tokens in the cache",
            tuple(random_tensors((5,), (5,), (5,), (7, 5), (7, 5))),
        ),
    ]


check_cached_step = FunctionCheck(
    title="Exercise 7.5",
    solution=cached_step,
    cases=_step_cases,
    mistakes={
        "the new token does not attend to itself: append first, then attend": _stepped(
            itself=False
        ),
        "the scores are not divided by √K": _stepped(scale=False),
        "the new key and value precede the cached ones: append them at the end": _stepped(
            front=True
        ),
        "the new key and value are not stored for the next step": _stepped(kept=False),
    },
    parts=("context", "keys", "values"),
    remark="No causal mask is needed, because later tokens do not exist yet.",
)


def repaired(vectors: Tensor, table: Tensor, start: int) -> Tensor:
    """The repair of exercise 7.6: vectors (B, T, D), table (N, D), start -> (B, T, D)."""
    return vectors + table[start : start + vectors.shape[1]]


def _position_cases() -> list[Case]:
    one, vectors, table = random_tensors((1, 1, 2), (3, 2, 5), (7, 5))
    hand = torch.tensor([[0.0, 0.0], [10.0, 1.0], [20.0, 2.0]])
    return [
        Case(
            "teacher forcing: two vectors from position 0",
            (torch.zeros(1, 2, 2), hand, 0),
            torch.tensor([[[0.0, 0.0], [10.0, 1.0]]]),
        ),
        Case("one decoding step: one vector at position 2", (one, hand, 2), one + hand[2]),
        Case("two vectors of width 5 from position 4", (vectors, table, 4)),
    ]


check_repair = FunctionCheck(
    title="Exercise 7.6, the repair",
    solution=repaired,
    cases=_position_cases,
    mistakes={
        "`start` is not used, which is the bug itself": lambda v, t, s: v + t[: v.shape[1]],
        "every vector gets the encoding of position `start`": lambda v, t, s: v + t[s],
        "the slice ends before it should: it has T rows, from `start` to `start + T`": (
            lambda v, t, s: v + t[s : v.shape[1]]
        ),
        "positions are counted from 1: the first vector is at position `start`": (
            lambda v, t, s: v + t[s + 1 : s + 1 + v.shape[1]]
        ),
        "the encoding replaces the vector instead of being added to it": (
            lambda v, t, s: t[s : s + v.shape[1]].expand(v.shape)
        ),
    },
    remark="With it, both columns of the table agree again.",
)


def intensity(n: int, width: int, size: int) -> float:
    """The solution of exercise 7.7: operations per byte of n vectors through a D × D matrix."""
    return 2 * n * width * width / (size * (width * width + 2 * n * width))


check_intensity = FunctionCheck(
    title="Exercise 7.7",
    solution=intensity,
    cases=lambda: [
        Case("one vector of width 2, one byte per number", (1, 2, 1), 1.0),
        Case("16 vectors of width 256, four bytes per number", (16, 256, 4)),
        Case("300 vectors of width 64, two bytes per number", (300, 64, 2)),
    ],
    mistakes={
        "a MAC counts as one operation: it is a multiplication and an addition": (
            lambda n, width, size: intensity(n, width, size) / 2
        ),
        "the input and output vectors are not counted": lambda n, width, size: 2 * n / size,
        "only one of the input and output vectors is counted": (
            lambda n, width, size: 2 * n * width / (size * (width + n))
        ),
        "the parameters are read once for each vector: one pass reads them once for all": (
            lambda n, width, size: 2 * width / (size * (width + 2))
        ),
        "numbers are counted instead of bytes": lambda n, width, size: (
            size * intensity(n, width, size)
        ),
        "it is bytes per operation, the reciprocal": lambda n, width, size: (
            1 / intensity(n, width, size)
        ),
    },
    remark="With few vectors it is about 2n divided by the bytes per number.",
)
