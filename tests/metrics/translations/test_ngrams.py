"""N-grams: counted by hand, and the sums that every metric relies on."""

from collections import Counter

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any, read_counts

TOKENS = st.lists(st.sampled_from("abc"), max_size=11)


def test_by_hand():
    tokens = ["a", "b", "a", "b", "c"]  # ab, ba, ab, bc
    assert count_ngrams(tokens, 2) == {("a", "b"): 2, ("b", "a"): 1, ("b", "c"): 1}
    ceiling = Counter({("a", "b"): 1, ("b", "c"): 3})
    assert clipped_matches(tokens, 2, ceiling) == 1 + 1


def test_the_ceiling_is_the_most_that_any_one_reference_holds():
    assert most_in_any([Counter("aab"), Counter("abbb"), Counter("c")]) == Counter("aabbbc")
    assert most_in_any([]) == Counter()


@given(TOKENS, st.integers(1, 5))
@example([], 1)
@example(["a"], 1)
@example(["a"], 2)
def test_a_text_of_t_tokens_has_t_minus_n_plus_1_ngrams(tokens, order):
    assert count_ngrams(tokens, order).total() == max(len(tokens) - order + 1, 0)


@given(TOKENS, TOKENS, st.integers(1, 3))
def test_crossing_off_equals_the_multiset_intersection_either_way(tokens, others, order):
    counts, ceiling = count_ngrams(tokens, order), count_ngrams(others, order)
    matches = (counts & ceiling).total()  # the sum over w of min(c_w(x), ceiling of w)
    assert clipped_matches(tokens, order, ceiling) == matches
    assert clipped_matches(others, order, counts) == matches


@given(TOKENS, TOKENS)
def test_counting_changes_no_argument(tokens, others):
    counters = [Counter(tokens), Counter(others)]
    most_in_any(counters)
    clipped_matches(tokens, 1, counters[1])
    assert counters == [Counter(tokens), Counter(others)]


def test_bad_input_is_named():
    with pytest.raises(TypeError, match="tokens must"):
        count_ngrams(3, 1)
    with pytest.raises(TypeError, match="tokens must"):
        count_ngrams([["a"]], 1)


def test_sums_are_read_as_whole_numbers():
    assert read_counts([1, 2.0], 2) == [1, 2]
    with pytest.raises(ValueError, match=r"total must"):
        read_counts([1, 2], 3)


def test_an_order_longer_than_the_text_gives_nothing():
    assert count_ngrams("abc", 4) == count_ngrams("abc", 10**30) == Counter()


@pytest.mark.parametrize(
    ("total", "error", "message"),
    [
        ([[1], [1, 2]], ValueError, r"total must"),
        ([1.0, float("nan")], ValueError, r"total must"),
    ],
)
def test_what_holds_no_counts_is_named(total, error, message):
    with pytest.raises(error, match=message):
        read_counts(total, 2)
    assert read_counts(torch.ones(2, requires_grad=True), 2) == [1, 1]
