"""Chapter 9, Evaluation: the checks of its exercises."""

from gates2heads.book.ch09.exercises.comparisons import (
    check_kappa,
    check_permutation,
    kappa,
    matched,
    permutation_p,
)
from gates2heads.book.ch09.exercises.scores import (
    PAIRS,
    PENALTY,
    SCORE,
    WORDS,
    check_by_hand,
    check_clipped,
    check_common,
    check_perplexity,
    clipped,
    common,
    perplexity,
)

__all__ = [
    "PAIRS",
    "PENALTY",
    "SCORE",
    "WORDS",
    "check_by_hand",
    "check_clipped",
    "check_common",
    "check_kappa",
    "check_permutation",
    "check_perplexity",
    "clipped",
    "common",
    "kappa",
    "matched",
    "permutation_p",
    "perplexity",
]
