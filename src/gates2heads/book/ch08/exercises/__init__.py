"""Chapter 8, Decoding: the checks of its exercises."""

from gates2heads.book.ch08.exercises.sampling import check_nucleus, nucleus
from gates2heads.book.ch08.exercises.search import (
    CANDIDATES,
    SEQUENCES,
    beam_step,
    check_beam_step,
    check_counts,
    check_errors,
    check_tie,
    search_errors,
    tie,
)

__all__ = [
    "CANDIDATES",
    "SEQUENCES",
    "beam_step",
    "check_beam_step",
    "check_counts",
    "check_errors",
    "check_nucleus",
    "check_tie",
    "nucleus",
    "search_errors",
    "tie",
]
