"""Chapter 10, find the bug: a leaderboard that ranks a model by its runs, with a bug or without."""

from collections.abc import Sequence

from gates2heads.accepts import accepts, flag, listed
from gates2heads.grading.paper import bug_check
from gates2heads.metrics.seeds import seed_interval

FAULTS = {
    "a": "the sum of squares is divided by the number of runs instead of one less",
    "b": "a constant is added to the score of every run",
    "c": "a model is represented by its best run",
    "d": "t is always 1.96, the value for many runs, however few there are",
}


@accepts(scores=listed(of="numbers"), faulty=flag)
def told(scores: Sequence[float], *, faulty: bool = False) -> tuple[float, float, float]:
    """What a leaderboard reports for a model.

    Args:
        scores: one for each run, two or more.
        faulty: with the bug that the reader is to find.

    Returns:
        the number that the model is ranked by, and its interval.
    """
    scores = list(scores)
    low, high = seed_interval(scores)
    mean = (low + high) / 2
    ranked = max(scores) if faulty else mean
    return ranked, ranked + low - mean, ranked + high - mean


check_fault = bug_check(
    "Exercise 10.4",
    FAULTS,
    {
        "a": "Then the intervals would be too narrow, but they are as wide as the correct ones.",
        "b": "Then the excess over the correct number would be the same for 2 and for 40 runs.",
        "d": "Then the intervals for few runs would be too narrow: compare the widths.",
    },
    closing=". Whoever submits more runs ranks higher.",
)
