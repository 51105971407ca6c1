"""Chapter 13, Scaling and in-context learning: the checks of its exercises."""

from gates2heads.book.ch13.exercises.conflicts import check_context_is_true
from gates2heads.book.ch13.exercises.heads import (
    check_copying_share,
    check_prefix_matching,
    copying_share,
    prefix_matching,
)
from gates2heads.book.ch13.exercises.scaling import (
    OPERATIONS,
    TOKENS,
    check_compute,
    check_power_law,
    fit_power_law,
)

__all__ = [
    "OPERATIONS",
    "TOKENS",
    "check_compute",
    "check_context_is_true",
    "check_copying_share",
    "check_power_law",
    "check_prefix_matching",
    "copying_share",
    "fit_power_law",
    "prefix_matching",
]
