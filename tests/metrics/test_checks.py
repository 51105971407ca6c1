"""The checks of numbers that callers choose."""

import math

import pytest

from gates2heads.metrics.checks import check_counts, check_number, check_whole


def test_what_is_right_passes():
    check_whole(1, "n")
    check_whole(0, "n", least=0)
    check_number(0, "x")
    check_number(0.1, "x", above=0)
    assert check_counts([1, 2.0], 2) == [1, 2]


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", None, math.nan, [1]])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        check_whole(value, "n")


@pytest.mark.parametrize("value", [-1, math.inf, math.nan, "1", None, [1.0]])
def test_what_is_no_number_is_named(value):
    with pytest.raises(ValueError, match="x must be a finite number of at least 0, got"):
        check_number(value, "x")


def test_an_open_bound_is_named():
    with pytest.raises(ValueError, match="x must be a finite number above 0, got 0"):
        check_number(0, "x", above=0)
