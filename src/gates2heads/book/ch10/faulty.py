"""Chapter 10, when it breaks: a board that tells a rung by its runs, sound or with a fault."""

from collections.abc import Sequence

from gates2heads.accepts import accepts, flag, listed
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.metrics.seeds import seed_interval

FAULTS = {
    "a": "the squares are divided by the number of runs, and not by one less",
    "b": "the runs are scored on the captions that they were trained on",
    "c": "a rung is told by its best run",
    "d": "t is taken for many runs, 1.96, however few there are",
}


@accepts(scores=listed(of="numbers"), faulty=flag)
def told(scores: Sequence[float], *, faulty: bool = False) -> tuple[float, float, float]:
    """What a board says of a rung.

    Args:
        scores: one number a run, two or more.
        faulty: tell it with the fault, which the reader is to find.

    Returns:
        the number that the rung is ranked by, and its interval.
    """
    scores = list(scores)
    low, high = seed_interval(scores)
    mean = (low + high) / 2
    ranked = max(scores) if faulty else mean
    return ranked, ranked + low - mean, ranked + high - mean


@check("Exercise 10.4")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty board: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then the intervals would be too narrow, and they are as wide as the sound ones.",
        "b": "Then the excess over the sound number would be the same for 2 and for 40 runs.",
        "d": "Then the intervals of few runs would be too narrow: compare the widths.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}. Whoever may try more often ranks higher."
