"""The checks of numbers that callers choose."""

import math

import numpy as np
import pytest

from gates2heads.metrics.checks import (
    check_choice,
    check_counts,
    check_flag,
    check_number,
    check_whole,
)


def test_what_is_right_passes():
    check_whole(1, "n")
    check_whole(0, "n", least=0)
    check_number(0, "x")
    check_number(0.1, "x", above=0)
    check_whole(5, "n", most=5)
    check_flag(False, "f")
    check_choice("a", "w", ("a", "b"))
    assert check_counts([1, 2.0], 2) == [1, 2]


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", None, math.nan, [1], True])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        check_whole(value, "n")


@pytest.mark.parametrize("value", [-1, math.inf, math.nan, "1", None, [1.0]])
def test_what_is_no_number_is_named(value):
    with pytest.raises(ValueError, match="x must be a finite number of at least 0, got"):
        check_number(value, "x")


def test_what_is_no_choice_or_flag_is_named():
    with pytest.raises(ValueError, match=r"w must be one of \['a', 'b'\], got 'c'"):
        check_choice("c", "w", ("b", "a"))
    with pytest.raises(ValueError, match=r"w must be one of \['a', 'b'\], got array"):
        check_choice(np.array(["a", "b"]), "w", ("b", "a"))
    with pytest.raises(TypeError, match="f must be True or False, got 1"):
        check_flag(1, "f")


def test_an_upper_bound_is_named():
    with pytest.raises(ValueError, match="n must be a whole number from 1 to 5, got 6"):
        check_whole(6, "n", most=5)


def test_an_open_bound_is_named():
    with pytest.raises(ValueError, match="x must be a finite number above 0, got 0"):
        check_number(0, "x", above=0)
