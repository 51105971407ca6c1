"""Chapter 3, Sequence probability: the checks of its exercises."""

from gates2heads.book.ch03.exercises.counts import (
    PERPLEXITY,
    PROBABILITY,
    add_k,
    check_add_k,
    check_by_hand,
    check_kneser_ney,
    kneser_ney,
)
from gates2heads.book.ch03.exercises.tokens import (
    at_once,
    check_at_once,
    check_merge,
    check_perplexity,
    merge,
    perplexity,
)

__all__ = [
    "PERPLEXITY",
    "PROBABILITY",
    "add_k",
    "at_once",
    "check_add_k",
    "check_at_once",
    "check_by_hand",
    "check_kneser_ney",
    "check_merge",
    "check_perplexity",
    "kneser_ney",
    "merge",
    "perplexity",
]
