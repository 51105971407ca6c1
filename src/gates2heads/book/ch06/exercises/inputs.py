"""Chapter 6, Self-attention: checks of the exercises on heads and positions."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


def split(vectors: Tensor, heads: int) -> Tensor:
    """The solution of exercise 6.3: vectors (S, D) -> (H, S, K), K = D/H."""
    return vectors.view(len(vectors), heads, -1).transpose(0, 1)


def _split_cases() -> list[Case]:
    numbered = torch.arange(12.0).view(3, 4)
    by_hand = torch.tensor(
        [[[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10, 11]]]
    )
    return [
        Case("three vectors of width 4, numbered from 0 to 11, and H = 2", (numbered, 2), by_hand),
        Case("seven vectors of width 15 and H = 5", (*random_tensors((7, 15)), 5)),
    ]


check_split = FunctionCheck(
    title="Exercise 6.3",
    solution=split,
    cases=_split_cases,
    mistakes={
        "a `view` or `reshape` to (H, S, K) mixes the positions: split to (S, H, K) first, then "
        "exchange the axes": (lambda x, h: x.reshape(h, len(x), -1)),
        "the axes are still in the order (S, H, K)": lambda x, h: x.view(len(x), h, -1),
        "a head received every H-th number instead of K consecutive ones": (
            lambda x, h: x.view(len(x), -1, h).permute(2, 0, 1)
        ),
        "the last two axes are exchanged: a head needs (S, K)": (
            lambda x, h: x.view(len(x), h, -1).permute(1, 2, 0)
        ),
        "every head received all D numbers": lambda x, h: x.expand(h, *x.shape),
    },
    remark="No number was copied or lost: every head holds one piece of each vector.",
)


def encoding(position: int, size: int) -> Tensor:
    """The solution of exercise 6.4: a position and an even width D -> (D,)."""
    angles = position / 10000 ** (torch.arange(0, size, 2) / size)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten()


def _encoding_with(*, exponent="2n/D", base=10000.0, order="in turns", first="sine"):
    """The sinusoidal encoding with one mistake."""

    def wrong(position, size):
        pairs, components = torch.arange(size // 2), torch.arange(size)
        if exponent in ("2j/D", "j/D"):  # for every component j
            angles = position / base ** ((2 if exponent == "2j/D" else 1) * components / size)
            return torch.where(components % 2 == 1, angles.cos(), angles.sin())
        angles = position / base ** (pairs * {"2n/D": 2, "4n/D": 4, "n/D": 1}[exponent] / size)
        parts = [angles.sin(), angles.cos()] if first == "sine" else [angles.cos(), angles.sin()]
        return torch.stack(parts, -1).flatten() if order == "in turns" else torch.cat(parts)

    return wrong


check_encoding = FunctionCheck(
    title="Exercise 6.4",
    solution=encoding,
    cases=lambda: [
        Case("position 0 and D = 6", (0, 6), torch.tensor([0.0, 1.0] * 3)),
        Case(
            "position 1 and D = 2",
            (1, 2),
            torch.tensor([math.sin(1.0), math.cos(1.0)]),
        ),
        Case("position 5 and D = 8", (5, 8)),
    ],
    mistakes={
        "n counts the components and not the pairs: sine and cosine of a pair have one angle": (
            _encoding_with(exponent="2j/D")
        ),
        "the exponent is j/D for every component j: the cosine of a pair, at j = 2n + 1, has the "
        "angle of its sine, with the exponent 2n/D": _encoding_with(exponent="j/D"),
        "the exponent is n/D and not 2n/D, where n counts the pairs": _encoding_with(
            exponent="n/D"
        ),
        "the exponent is 4n/D and not 2n/D: `arange(0, D, 2)` already contains 2n, so do not "
        "double it": _encoding_with(exponent="4n/D"),
        "all sines come before all cosines: they should alternate": _encoding_with(
            order="one after the other"
        ),
        "sine and cosine are exchanged": _encoding_with(first="cosine"),
        "the base is not 10000": _encoding_with(base=1000.0),
        "the angle grows with n: divide by the power instead of multiplying": _encoding_with(
            base=1e-4
        ),
    },
    remark="`layers.positions.sinusoids` computes the encodings of many positions in parallel.",
)
