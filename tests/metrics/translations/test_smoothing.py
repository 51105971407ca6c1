"""Smoothing of BLEU's precisions: by hand, ordered as it should be, clear about bad input.

That whole scores equal sacreBLEU under each method is shown in test_bleu.py.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.metrics.smoothing import SMOOTHING, modified_precisions

COUNTS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=5).map(
    lambda pairs: ([min(pair) for pair in pairs], [max(pair) for pair in pairs])
)


def test_smoothing_by_hand():
    # matches 3, 1, 0, 0 of 5, 4, 3, 2
    counts = [3, 1, 0, 0], [5, 4, 3, 2]
    assert modified_precisions(*counts, "none") == pytest.approx([60, 25, 0, 0])
    assert modified_precisions(*counts, "floor", 0.3) == pytest.approx([60, 25, 10, 15])
    assert modified_precisions(*counts, "add-k") == pytest.approx([60, 40, 25, 100 / 3])
    assert modified_precisions(*counts, "exp") == pytest.approx([60, 25, 50 / 3, 25 / 2])


def test_an_order_without_ngrams_ends_the_list_and_no_match_at_all_is_not_smoothed():
    assert modified_precisions([2, 1, 0], [2, 1, 0], "exp") == [100, 100]
    assert modified_precisions([0, 0], [5, 4], "exp") == []


@given(COUNTS, st.sampled_from(sorted(SMOOTHING)))
def test_smoothing_never_lowers_and_stays_within_a_hundred(counts, method):
    plain, smoothed = modified_precisions(*counts, "none"), modified_precisions(*counts, method)
    assert all(after >= before for before, after in zip(plain, smoothed, strict=False))
    assert all(0 <= precision <= 100 for precision in smoothed)


@pytest.mark.parametrize(
    ("matches", "totals", "message"),
    [
        ([1], [2, 1], "totals must"),
        ([3], [2], r"matches must"),
    ],
)
def test_bad_matches_and_totals_are_named(matches, totals, message):
    with pytest.raises((TypeError, ValueError), match=message):
        modified_precisions(matches, totals)
