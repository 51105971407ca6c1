"""Batches by tokens: every pair once, within the budget, little padding; long texts in runs."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.data.batches.pairs import chunks, endless_token_batches, token_batches

EOS = 2
sequences = st.lists(st.integers(3, 97), max_size=12).map(lambda tokens: (*tokens, EOS))
pair_lists = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=29)
PAIRS = [((5,) * n, (7,) * (1 + n % 11)) for n in range(1, 31)]


def pairs_in(batches):
    found = Counter()
    for batch in batches:
        for source, kept, target, real in zip(
            batch.source, batch.source_mask, batch.target_out, batch.target_mask, strict=True
        ):
            found[tuple(source[kept].tolist()), tuple(target[real].tolist())] += 1
    return found


def test_by_hand():
    # Longest sides 2, 3, 4, 5 under a budget of 8: 2 and 3 make 2 × 3 = 6; a third would make
    # 3 × 4 = 12. 4 and 5 would make 2 × 5 = 10, so each goes alone.
    pairs = [((3,) * 5, (4,)), ((3,), (4,) * 2), ((3,) * 4, (4,) * 4), ((3,) * 3, (4,))]
    batches = list(token_batches(pairs, 8))
    assert [batch.source_mask.sum(1).tolist() for batch in batches] == [[1, 3], [4], [5]]


@given(pair_lists, st.integers(13, 61), st.none() | st.integers(0, 97))
@example([((EOS,), (EOS,))], 13, None)
@example([((3,) * 12 + (EOS,), (EOS,))] * 3, 13, -1)
@example([((3,) * 12 + (EOS,), (EOS,))] * 4, 26, 0)
def test_every_pair_once_within_the_budget(pairs, budget, seed):
    batches = list(token_batches(pairs, budget, seed=seed))
    assert pairs_in(batches) == Counter(pairs)
    for batch in batches:
        assert max(batch.source.numel(), batch.target_out.numel()) <= budget


def test_little_is_padding():
    batches = list(token_batches(PAIRS * 7, 97, seed=3))
    real = sum(int(batch.source_mask.sum()) for batch in batches)
    assert real > 0.9 * sum(batch.source.numel() for batch in batches)


def test_the_seed_shuffles_batches_and_rounds_differ():
    first, again, other = (
        [batch.source.tolist() for batch in token_batches(PAIRS, 61, seed=seed)]
        for seed in (3, 3, 4)
    )
    assert first == again != other
    assert sorted(map(len, first)) == sorted(map(len, other))
    lengths = [len(rows[0]) for rows in first]
    assert lengths != sorted(lengths)
    rounds = list(islice(endless_token_batches(PAIRS, 61), 2 * len(first)))
    assert pairs_in(rounds[: len(first)]) == pairs_in(rounds[len(first) :]) == Counter(PAIRS)
    shapes = [batch.source.shape for batch in rounds]
    assert shapes[: len(first)] != shapes[len(first) :]


def test_segments_by_hand():
    assert chunks([3, 4, 5, 6, 7], 3) == [[3, 4, 5], [6, 7]]
    assert chunks([3, 4, 5, 6], 3) == [[3, 4, 5]]  # one token alone predicts nothing
    assert chunks([3, 4, 5, 6], 3, step=2) == [[3, 4, 5], [5, 6]]


@given(st.lists(st.integers(0, 97), min_size=2, max_size=61), st.integers(2, 13))
def test_segments_join_to_the_text(numbers, length):
    joined = [number for run in chunks(numbers, length) for number in run]
    assert joined == numbers[: len(joined)]
    assert len(numbers) - len(joined) <= 1


def test_the_longest_sequence_must_fit_the_budget():
    with pytest.raises(ValueError, match="token_budget must"):
        next(token_batches(PAIRS, 29))


def test_a_batch_may_fill_its_budget_to_the_last_token():
    """Two pairs of five tokens fill a budget of ten; one token less, and they no longer fit."""
    pairs = [([5, 6, 7, 8, 2], [5, 2])] * 4
    assert [len(batch) for batch in token_batches(pairs, 10)] == [2, 2]
    assert [len(batch) for batch in token_batches(pairs, 9)] == [1, 1, 1, 1]


def test_a_seed_may_be_negative_and_is_another_one_then():
    pairs = [([number, 2], [number, 2]) for number in range(3, 60)]

    def order(seed):
        return [batch.source[:, 0].tolist() for batch in token_batches(pairs, 14, seed=seed)]

    assert order(-1) != order(1)
    assert order(-1) == order(-1)
    assert order(np.int64(7)) == order(7)
