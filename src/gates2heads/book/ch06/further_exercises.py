"""Chapter 6, Further page: checks of the exercises on longer inputs."""

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck
from gates2heads.layers.positions import alibi_bias


def angles(length: int, trained: int, width: int) -> Tensor:
    """The solution of exercise 6.7: S, L and K -> (S, K/2), interpolated where S > L."""
    positions = torch.arange(length) * min(1, trained / length)
    frequencies = 10000 ** (-torch.arange(0, width, 2) / width)
    return positions[:, None] * frequencies


def _angles_with(*, scale=None, exponent=1.0, power=-1, on="positions", start=0):
    """Interpolated angles with one mistake."""

    def wrong(length, trained, width):
        factor = min(1, trained / length) if scale is None else scale(length, trained)
        rates = 10000 ** (power * exponent * torch.arange(0, width, 2) / width)
        positions = torch.arange(start, start + length).float()
        if on == "rounded positions":
            return (positions * factor).floor()[:, None] * rates
        if on == "cut":
            return positions.clamp_max(trained - 1)[:, None] * rates
        return (positions * factor)[:, None] * rates

    return wrong


check_angles = FunctionCheck(
    title="Exercise 6.7",
    solution=angles,
    cases=lambda: [
        Case(
            "two positions, as in training, and K = 2",
            (2, 2, 2),
            torch.tensor([[0.0], [1.0]]),
        ),
        Case(
            "four positions, two in training, and K = 2",
            (4, 2, 2),
            torch.tensor([[0.0], [0.5], [1.0], [1.5]]),
        ),
        Case("three positions, seven in training, and K = 6", (3, 7, 6)),
        Case("nine positions, five in training, and K = 8", (9, 5, 8)),
    ],
    mistakes={
        "the positions are not interpolated": _angles_with(scale=lambda new, old: 1),
        "the positions are multiplied by L'/L instead of L/L'": _angles_with(
            scale=lambda new, old: max(1, new / old)
        ),
        "shorter sequences are stretched as well: up to the training length, nothing changes": (
            _angles_with(scale=lambda new, old: old / new)
        ),
        "the last position is mapped to L − 1: the factor is L/L', not (L − 1)/(L' − 1)": (
            _angles_with(scale=lambda new, old: min(1, (old - 1) / (new - 1)))
        ),
        "the interpolated positions are rounded to whole numbers": _angles_with(
            on="rounded positions"
        ),
        "positions beyond the training length all get its last position": _angles_with(on="cut"),
        "the exponent is doubled: `arange(0, K, 2)` already contains 2n": _angles_with(exponent=2),
        "the exponent is n/K and not 2n/K": _angles_with(exponent=0.5),
        "the exponent has the wrong sign: the frequencies should fall": _angles_with(power=1),
        "the positions start at 1": _angles_with(start=1),
    },
    remark="All positions stay below L, but neighbouring positions differ by less.",
)


def alibi_weights(num_heads: int, length: int) -> Tensor:
    """The solution of exercise 6.8: H and S -> (H, S, S), the weights for equal scores."""
    positions = torch.arange(length)
    distances = positions[:, None] - positions
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    scores = -slopes[:, None, None] * distances
    return scores.masked_fill(distances < 0, -torch.inf).softmax(-1)


def _alibi_with(*, first=1, share=None, sign=-1, causal=True, axis=-1):
    def wrong(num_heads, length):
        positions = torch.arange(length)
        distances = positions[:, None] - positions
        heads = torch.arange(first, num_heads + first)
        slopes = 2.0 ** (-8 * heads / num_heads) if share is None else share(heads, num_heads)
        bias = distances if causal else distances.abs()
        scores = sign * slopes[:, None, None] * bias
        if causal:
            scores = scores.masked_fill(distances < 0, -torch.inf)
        return scores.softmax(axis)

    return wrong


check_alibi = FunctionCheck(
    title="Exercise 6.8",
    solution=alibi_weights,
    cases=lambda: [
        Case(
            "one head, one position",
            (1, 1),
            torch.ones(1, 1, 1),
        ),
        Case("two heads, four positions", (2, 4)),
        Case("eight heads, five positions", (8, 5)),
    ],
    mistakes={
        "later positions are not masked": _alibi_with(causal=False),
        "the bias grows with the distance: it should be negative": _alibi_with(sign=1),
        "the heads are counted from 0, so the first slope is 1": _alibi_with(first=0),
        "all heads have the same slope": _alibi_with(
            share=lambda heads, count: 2.0 ** (-8 / count) * torch.ones(count)
        ),
        "the exponent is −8h and not −8h/H": _alibi_with(
            share=lambda heads, count: 2.0 ** -(heads**3)
        ),
        "the softmax runs over the queries": _alibi_with(axis=-2),
        "these are the biases: apply the causal mask and the softmax": alibi_bias,
    },
    remark="No row depends on the length of the sequence, so ALiBi is defined for any length.",
)


def window_mask(length: int, window: int, sinks: int) -> Tensor:
    """The solution of exercise 6.9: S, W and the number of sinks -> (S, S) bool."""
    positions = torch.arange(length)
    distances = positions[:, None] - positions
    near = (distances >= 0) & (distances < window)
    return near | ((positions < sinks) & (distances >= 0))


def _window_with(how):
    def wrong(length, window, sinks):
        positions = torch.arange(length)
        apart = positions[:, None] - positions
        return how(apart, positions, window, sinks)

    return wrong


check_window = FunctionCheck(
    title="Exercise 6.9",
    solution=window_mask,
    cases=lambda: [
        Case(
            "four positions, a window of 2, no sinks",
            (4, 2, 0),
            torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]).bool(),
        ),
        Case(
            "four positions, a window of 2, one sink",
            (4, 2, 1),
            torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]).bool(),
        ),
        Case("nine positions, a window of 3, two sinks", (9, 3, 2)),
    ],
    mistakes={
        "the window has W + 1 positions: the position itself is one of the W": _window_with(
            lambda d, j, w, s: ((d >= 0) & (d <= w)) | ((j < s) & (d >= 0))
        ),
        "the window also contains later positions": _window_with(
            lambda d, j, w, s: (d.abs() < w) | ((j < s) & (d >= 0))
        ),
        "early queries may attend to sinks that come after them": _window_with(
            lambda d, j, w, s: ((d >= 0) & (d < w)) | (j < s)
        ),
        "the sinks are missing": _window_with(lambda d, j, w, s: (d >= 0) & (d < w)),
        "only the sinks in the window are kept: combine with “or”, not “and”": _window_with(
            lambda d, j, w, s: (d >= 0) & (d < w) & (j < s)
        ),
        "True means hidden: in this library, True means that a key may be attended to": (
            lambda *given: ~window_mask(*given)
        ),
        "queries and keys are exchanged": lambda *given: window_mask(*given).T,
    },
    remark="Each row has at most W + sinks entries, so the cost grows linearly with the length.",
)
