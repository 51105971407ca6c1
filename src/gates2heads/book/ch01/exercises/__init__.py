"""Chapter 1, Recurrent gates: the checks of its exercises."""

from gates2heads.book.ch01.exercises.cells import (
    check_convert_update_gate,
    check_lstm,
    check_parameter_count,
    convert_update_gate,
    lstm,
    parameter_count,
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
    "check_convert_update_gate",
    "check_forget_bias",
    "check_half_life",
    "check_jacobian",
    "check_lstm",
    "check_parameter_count",
    "convert_update_gate",
    "jacobian",
    "lstm",
    "parameter_count",
]
