"""Exact match: by hand, order-free over the test set, clear about bad input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.metrics.exact_match import exact_match

TEXTS = st.lists(st.tuples(st.text("ab", max_size=2), st.text("ab", max_size=2)), min_size=1)


def test_by_hand():
    # 2 of 5 are equal: a space, a capital and an accent count
    hypotheses = ["2024-01-31", "1999-12-31", "a b", "Cat", "cafe\u0301"]
    references = ["2024-01-31", "1999-12-31", "a  b", "cat", "caf\u00e9"]
    assert exact_match(hypotheses, references) == 2 / 5


def test_tokens_and_ids_are_compared_whole():
    assert exact_match([["a", "b"], [2, 3]], [("a", "b"), [2, 3, 5]]) == 1 / 2


@given(TEXTS)
def test_it_is_the_share_of_equal_pairs_in_any_order(pairs):
    hypotheses, references = zip(*pairs, strict=True)
    share = exact_match(hypotheses, references)
    assert 0 <= share <= 1
    assert share == exact_match(hypotheses[::-1], references[::-1])
    assert (share == 1) == (hypotheses == references)


@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ("abc", "abd", TypeError, "hypotheses must"),
        (["a"], None, TypeError, "references must"),
        ([], [], ValueError, "hypotheses must"),
        (["a"], ["a", "b"], ValueError, "one entry for each of the 1 hypotheses, got 2"),
        ([None], ["a"], TypeError, r"hypotheses\[0\] must"),
        (["a"], [float("nan")], TypeError, r"references\[0\] must"),
        (["a"], [["a"]], TypeError, r"references\[0\] must"),
    ],
)
def test_bad_input_is_named(hypotheses, references, error, message):
    with pytest.raises(error, match=message):
        exact_match(hypotheses, references)
