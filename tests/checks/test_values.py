"""The checks of numbers, words and flags that callers choose."""

import math
from fractions import Fraction

import numpy as np
import pytest

from gates2heads.checks.values import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_positive,
    check_share,
    check_texts,
)


def test_what_is_right_passes():
    check_count("n", 1)
    check_count("n", 0, least=0)
    check_count("n", np.int64(5), most=5)
    check_number("x", -3)
    check_number("x", np.float64(0), least=0)
    check_positive("x", 1e-9)
    check_share("x", 0)
    check_share("x", 1)
    check_flag("f", False)
    check_choice("w", "a", ("a", "b"))


@pytest.mark.parametrize("value", [1.0, "1", None, math.nan, [1], True, np.float64(1)])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(TypeError, match="n must be a whole number, got"):
        check_count("n", value)


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (0, {}, "n must be at least 1, got 0"),
        (-1, {"least": 0}, "n must be at least 0, got -1"),
        (0, {"most": 5}, "n must be from 1 to 5, got 0"),
        (6, {"most": 5}, "n must be from 1 to 5, got 6"),
        (10**999, {"most": 5}, "n must be from 1 to 5, got a whole number of 3319 bits"),
    ],
)
def test_a_whole_number_out_of_bounds_is_named(value, bounds, message):
    with pytest.raises(ValueError, match=message):
        check_count("n", value, **bounds)


def test_a_fraction_is_no_share_since_dropout_does_not_take_it():
    check_share("x", np.float32(0.5))
    with pytest.raises(TypeError, match=r"^x must be a float, got Fraction\(1, 3\)$"):
        check_share("x", Fraction(1, 3))


@pytest.mark.parametrize("check", [check_number, check_positive, check_share])
@pytest.mark.parametrize("value", ["1", None, [1.0], True, 1j])
def test_what_is_no_number_is_named(check, value):
    with pytest.raises(TypeError, match="x must be a number, got"):
        check("x", value)


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (check_number, math.nan, "x must be finite, got nan"),
        (check_number, -math.inf, "x must be finite, got -inf"),
        (lambda *x: check_number(*x, most=7), 11, "x must be finite and at most 7, got 11"),
        (lambda *x: check_number(*x, most=7), math.inf, "x must be finite, got inf"),
        (lambda *x: check_positive(*x, most=7), 11, "x must be positive and at most 7, got 11"),
        (lambda *x: check_number(*x, least=0), -1, "x must be finite and at least 0, got -1"),
        (lambda *x: check_number(*x, least=0), math.inf, "x must be finite and at least 0, got"),
        (check_positive, 0, "x must be positive and finite, got 0"),
        (check_positive, math.inf, "x must be positive and finite, got inf"),
        (check_positive, math.nan, "x must be positive and finite, got nan"),
        (check_share, 1.1, r"x must lie in \[0, 1\], got 1.1"),
        (check_share, -0.1, r"x must lie in \[0, 1\], got -0.1"),
        (check_share, math.nan, r"x must lie in \[0, 1\], got nan"),
    ],
)
def test_a_number_out_of_bounds_is_named(check, value, message):
    with pytest.raises(ValueError, match=message):
        check("x", value)


def test_what_is_no_choice_or_flag_is_named():
    with pytest.raises(ValueError, match="w must be one of b, a, got 'c'"):
        check_choice("w", "c", ("b", "a"))
    with pytest.raises(ValueError, match="w must be one of b, a, got a numpy <U1 array"):
        check_choice("w", np.array(["a", "b"]), ("b", "a"))
    with pytest.raises(TypeError, match="f must be True or False, got 1"):
        check_flag("f", 1)


def test_texts_that_a_look_would_use_up_are_refused():
    check_texts("t", ("a", "b"))
    check_texts("t", {"a": 1})
    with pytest.raises(TypeError, match="t must be a list of strings, got <generator"):
        check_texts("t", (letter for letter in "ab"))
