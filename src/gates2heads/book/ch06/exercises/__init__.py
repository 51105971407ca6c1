"""Chapter 6, Self-attention: the checks of its exercises."""

from gates2heads.book.ch06.exercises.attending import (
    ROUNDED,
    WEIGHTS_BY_HAND,
    attend_to_itself,
    check_attend,
    check_by_hand,
    check_reach,
    reach,
)
from gates2heads.book.ch06.exercises.inputs import check_encoding, check_split, encoding, split

__all__ = [
    "ROUNDED",
    "WEIGHTS_BY_HAND",
    "attend_to_itself",
    "check_attend",
    "check_by_hand",
    "check_encoding",
    "check_reach",
    "check_split",
    "encoding",
    "reach",
    "split",
]
