"""Statistics over random seeds: a confidence interval of the mean, and a permutation test.

Each run is a random sample: another seed gives the same recipe another initialisation, another
order of the data and another score. For the mean of R runs there is Student's interval; two recipes
are compared by a permutation test, which divides the runs between them in all possible ways.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from scipy.special import stdtrit

from gates2heads.accepts import accepts, fraction, listed, natural, number
from gates2heads.accepts.shown import shown
from gates2heads.metrics.significance import Interval

__all__ = [
    "PermutationTest",
    "pareto_front",
    "permutation_test",
    "seed_interval",
    "student_quantile",
]

LARGEST = number(least=-1e150, most=1e150)  # the square of a score is still a number
MOST_RUNS = 10  # of one recipe, in `permutation_test`: 184,756 ways to divide twenty runs


class PermutationTest(NamedTuple):
    """The outcome of a permutation test of runs.

    Attributes:
        difference: mean of the first runs minus mean of the second.
        splits: the number of ways to divide the runs.
        as_large: the number of them with at least as large a difference of means, of either sign.
        p_value: as_large / splits, two-sided.
    """

    difference: float
    splits: int
    as_large: int
    p_value: float


@accepts(share=fraction, degrees=natural(most=10_000))
def student_quantile(share: float, degrees: int) -> float:
    """Compute the t for which |T| ≤ t has a given probability, by SciPy.

    Args:
        share: the probability, between 0 and 1, such as 0.95.
        degrees: of freedom, ν, 1 or more.

    Returns:
        t, such as 4.303 for 0.95 and 2.
    """
    _check_inside("share", share)
    return float(stdtrit(degrees, (1 + share) / 2))


@accepts(scores=listed("numbers"), confidence=fraction)
def seed_interval(scores: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Compute the confidence interval of the mean over seeds, from the scores of a few runs.

    Source: Student 1908. It assumes that the scores are normally distributed.

    Args:
        scores: one number per run, two or more.
        confidence: the coverage of the interval, between 0 and 1.

    Returns:
        mean ∓ t · s / √R, where s divides by R − 1 and t has R − 1 degrees of freedom.

    Raises:
        TypeError: one of the scores is not a number.
        ValueError: fewer than two scores, one that is not finite, or a confidence of 0 or 1.
    """
    scores = _numbers("scores", scores, least=2)
    _check_inside("confidence", confidence)
    count, mean = len(scores), math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (count - 1)
    half = student_quantile(confidence, count - 1) * math.sqrt(variance / count)
    return Interval(mean - half, mean + half)


@accepts(first=listed("numbers"), second=listed("numbers"))
def permutation_test(first: Sequence[float], second: Sequence[float]) -> PermutationTest:
    """Exact permutation test for a difference between the mean scores of two models.

    If the two recipes are equally good, each way to divide the runs between them is equally likely.

    Source: Fisher 1935, section 21.

    Args:
        first, second: the scores of the runs, 1 to 10 of each.

    Raises:
        TypeError: one of them is not a number.
        ValueError: no run, too many, NaN or inf.
    """
    first = _numbers("first", first, least=1, most=MOST_RUNS)
    second = _numbers("second", second, least=1, most=MOST_RUNS)
    scores, some = [*first, *second], len(first)
    total = math.fsum(scores)

    def gap(sum_of_first: float) -> float:
        return sum_of_first / some - (total - sum_of_first) / len(second)

    found = gap(math.fsum(first))
    near = 1e-9 * (1 + max(map(abs, scores)))  # rounding must not break a tie
    gaps = [gap(math.fsum(dealt)) for dealt in combinations(scores, some)]
    as_large = sum(abs(one) >= abs(found) - near for one in gaps)
    return PermutationTest(found, len(gaps), as_large, as_large / len(gaps))


@accepts(costs=listed("numbers"), qualities=listed("numbers"))
def pareto_front(costs: Sequence[float], qualities: Sequence[float]) -> list[bool]:
    """Which of N items are on the Pareto front: dominated by no other item.

    An item is dominated if another costs no more and is no worse, and is better in one of the two.

    Args:
        costs: N numbers, the lower the better.
        qualities: N numbers, the higher the better.

    Raises:
        TypeError: one of them is not a number.
        ValueError: lists of different lengths, none at all, NaN or inf.
    """
    costs = _numbers("costs", costs, least=1)
    qualities = _numbers("qualities", qualities, least=1)
    if len(costs) != len(qualities):
        raise ValueError(f"qualities must have {len(costs)} numbers as costs, got {len(qualities)}")
    things = list(zip(costs, qualities, strict=True))
    return [
        not any(c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in things)
        for cost, quality in things
    ]


def _check_inside(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {shown(value)}")


def _numbers(name: str, values: Sequence[float], *, least: int, most: int = 100_000) -> list[float]:
    values = list(values)
    if not least <= len(values) <= most:
        raise ValueError(f"{name} must hold {least} to {most} numbers, got {len(values)}")
    for place, value in enumerate(values):
        LARGEST.check(f"{name}[{place}]", value)
    return [float(value) for value in values]
