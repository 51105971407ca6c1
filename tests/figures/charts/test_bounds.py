"""Bounds in prose are never rounded inwards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.figures.charts.bounds import at_least, at_most


@pytest.mark.parametrize(
    ("value", "places", "low", "high"),
    [
        (1.768, 1, "1.7", "1.8"),
        (5.08, 1, "5.0", "5.1"),
        (98.60000000000001, 1, "98.6", "98.6"),
        (-0.12, 1, "−0.2", "−0.1"),
        (1234.5, 0, "1,234", "1,235"),
        (2, 1, "2.0", "2.0"),
    ],
)
def test_by_hand(value, places, low, high):
    assert (at_least(value, places), at_most(value, places)) == (low, high)


@given(st.floats(0, 1e6), st.integers(0, 3))
def test_the_sentence_stays_true(value, places):
    low, high = (float(write(value, places).replace(",", "")) for write in (at_least, at_most))
    assert low <= value + 1e-5
    assert high >= value - 1e-5
