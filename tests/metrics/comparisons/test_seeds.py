"""What a few runs tell: by hand, against SciPy, by brute force, and wrong arguments."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gates2heads.metrics.seeds import (
    pareto_front,
    permutation_test,
    seed_interval,
    student_quantile,
)

SCORES = st.lists(st.floats(-100, 100), min_size=2, max_size=7)


def test_three_runs_by_hand():
    # mean 39; s² = (1 + 0 + 1) / 2 = 1; t of 2 degrees: t² = 2 c² / (1 − c²), c = 0.95
    t = math.sqrt(2 * 0.95**2 / (1 - 0.95**2))
    assert student_quantile(0.95, 2) == pytest.approx(t, abs=1e-9)
    assert round(t, 3) == 4.303
    low, high = seed_interval([38, 39, 40])
    assert (low, high) == pytest.approx((39 - t / math.sqrt(3), 39 + t / math.sqrt(3)))


def test_one_degree_of_freedom_is_cauchys():
    assert student_quantile(0.5, 1) == pytest.approx(1)


@pytest.mark.parametrize("degrees", [*range(1, 12), 29, 30, 501])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_the_quantile_is_scipys(share, degrees):
    wanted = stats.t.ppf((1 + share) / 2, degrees)
    # Before version 1.14 or so, SciPy's own is right to eight digits only.
    assert student_quantile(share, degrees) == pytest.approx(wanted, rel=1e-8)


@given(SCORES, st.floats(0.5, 0.99))
def test_the_interval_is_scipys(scores, confidence):
    error = np.std(scores, ddof=1) / math.sqrt(len(scores))
    half = stats.t.ppf((1 + confidence) / 2, len(scores) - 1) * error
    low, high = seed_interval(scores, confidence=confidence)
    assert (high - low) / 2 == pytest.approx(half, rel=1e-6, abs=1e-9)
    assert (high + low) / 2 == pytest.approx(np.mean(scores), abs=1e-9)


def test_it_holds_the_mean_as_often_as_it_says():
    drawn = np.random.default_rng(5).normal(30, 2, size=(2000, 3))
    held = [low <= 30 <= high for low, high in map(seed_interval, drawn.tolist())]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_six_runs_by_hand():
    # Of 20 ways to deal out 1 … 6 in threes, two set the sums 9 apart: 123 | 456 and 456 | 123.
    assert permutation_test([1, 2, 3], [4, 5, 6]) == (-3.0, 20, 2, 0.1)
    assert permutation_test([1, 2, 4], [3, 5, 6]).as_large == 4
    assert permutation_test([1], [2]).p_value == 1
    assert permutation_test([2, 2], [2, 2]).p_value == 1


@given(
    st.lists(st.integers(-30, 30), min_size=1, max_size=4),
    st.lists(st.integers(-30, 30), min_size=1, max_size=4),
)
def test_it_counts_every_way_and_does_not_mind_which_is_first(first, second):
    found, other = permutation_test(first, second), permutation_test(second, first)
    runs, some = [*first, *second], len(first)
    gaps = [
        abs(
            sum(runs[i] for i in dealt) / some
            - sum(runs[i] for i in range(len(runs)) if i not in dealt) / len(second)
        )
        for dealt in itertools.combinations(range(len(runs)), some)
    ]
    wanted = sum(gap >= gaps[0] - 1e-9 for gap in gaps)
    assert (found.splits, found.as_large) == (len(gaps), wanted) == (other.splits, other.as_large)
    assert found.difference == pytest.approx(-other.difference)
    assert 1 <= found.as_large <= found.splits


def test_the_front_by_hand():
    costs, qualities = [1, 2, 3, 3, 1], [5, 5, 9, 8, 4]
    assert pareto_front(costs, qualities) == [True, False, True, False, False]
    assert pareto_front([2, 2], [7, 7]) == [True, True]  # none beats its equal


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9))
def test_somebody_is_on_the_front_and_beats_whoever_is_not(things):
    costs, qualities = map(list, zip(*things, strict=True))
    front = pareto_front(costs, qualities)
    assert front[max(range(len(things)), key=lambda n: (qualities[n], -costs[n]))]
    ahead = [thing for thing, on in zip(things, front, strict=True) if on]
    for (cost, quality), on in zip(things, front, strict=True):
        beaten = [1 for c, q in ahead if (c <= cost and q > quality) or (c < cost and q >= quality)]
        assert bool(beaten) != on


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: seed_interval([3.0]), "scores must"),
        (lambda: seed_interval([1, math.nan]), r"scores\[1\] must"),
        (lambda: seed_interval([1, True]), r"scores\[1\] must"),
        (lambda: seed_interval([1, 2], confidence=1.0), "confidence must"),
        (lambda: permutation_test([1] * 11, [2]), "first must"),
        (lambda: seed_interval([1, np.float32("inf")]), r"scores\[1\] must"),
        (lambda: pareto_front([1], [1, 2]), "qualities must"),
    ],
)
def test_wrong_arguments(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_a_score_that_is_too_large_is_not_called_infinite():
    with pytest.raises(ValueError, match=r"^scores\[0\] must"):
        seed_interval([1e200, 1.0])


@pytest.mark.parametrize("unit", [1, 1e6 / 3, -1e6 / 3])
def test_what_differs_by_rounding_alone_is_as_large_at_any_size(unit):
    # The sums are 61 and 62, of 123. No way to deal out an odd number is nearer, so all 20 are as
    # far; but one of them differs in its last digit, which is worth more the larger the unit.
    first, second = ([unit * run for run in runs] for runs in ([30, 9, 22], [18, 20, 24]))
    assert permutation_test(first, second).as_large == 20


@pytest.mark.parametrize("unit", [1, 1e6])
def test_what_differs_in_the_seventh_digit_is_not_as_large(unit):
    # Alone against the others' means: 1.5 + 1e-6, 1.5 + 5e-7 and nearly 0.
    assert permutation_test([unit * (1 + 1e-6)], [-unit, 0]).as_large == 1
