"""Chapter 1, Recurrent gates: the checks of its exercises."""

from gates2heads.book.ch01.exercises.cells import (
    check_lstm,
    check_turned,
    check_weights_of,
    lstm,
    turned,
    weights_of,
)
from gates2heads.book.ch01.exercises.gradients import (
    FORGET,
    FORGET_BIAS,
    HALF_AFTER,
    HALF_LIFE,
    check_forget_bias,
    check_half_life,
    check_jacobian,
    jacobian,
)

__all__ = [
    "FORGET",
    "FORGET_BIAS",
    "HALF_AFTER",
    "HALF_LIFE",
    "check_forget_bias",
    "check_half_life",
    "check_jacobian",
    "check_lstm",
    "check_turned",
    "check_weights_of",
    "jacobian",
    "lstm",
    "turned",
    "weights_of",
]
