"""Batches: every pair once, shifted by one, with a mask that is true to the lengths."""

from collections import Counter
from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.pairs import Batch, batches, collate, endless_batches, pad

EOS = 2
sequences = st.lists(st.integers(3, 97), max_size=7).map(lambda tokens: [*tokens, EOS])
pair_lists = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=13)


def test_pad_by_hand():
    tokens, mask = pad([[7], [3, 5, 11], [2, 2]])
    assert tokens.tolist() == [[7, 0, 0], [3, 5, 11], [2, 2, 0]]
    assert mask.tolist() == [[True, False, False], [True, True, True], [True, True, False]]
    assert (tokens.dtype, mask.dtype) == (torch.long, torch.bool)
    assert pad([[7], [3, 5]], pad_id=9)[0].tolist() == [[7, 9], [3, 5]]


def test_a_token_that_looks_like_padding_is_real():
    tokens, mask = pad([[0, 0], [3, 0, 0]])
    assert mask.tolist() == [[True, True, False], [True, True, True]]
    assert tokens.tolist() == [[0, 0, 0], [3, 0, 0]]


def test_collate_by_hand():
    batch = collate([([5, 7, 2], [11, 13, 17, 2]), ([3, 2], [19, 2])])
    assert batch.source.tolist() == [[5, 7, 2], [3, 2, 0]]
    assert batch.source_mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.target_out.tolist() == [[11, 13, 17, 2], [19, 2, 0, 0]]
    assert batch.target_in.tolist() == [[1, 11, 13, 17], [1, 19, 2, 0]]
    assert batch.target_mask.tolist() == [[True] * 4, [True, True, False, False]]
    assert len(batch) == 2


def unpad(batch):
    """The pairs of a batch, read off tokens and masks."""
    sources = [
        row[real].tolist() for row, real in zip(batch.source, batch.source_mask, strict=True)
    ]
    targets = [
        row[real].tolist() for row, real in zip(batch.target_out, batch.target_mask, strict=True)
    ]
    return [(tuple(s), tuple(t)) for s, t in zip(sources, targets, strict=True)]


@given(pairs=pair_lists, size=st.integers(1, 5), seed=st.one_of(st.none(), st.integers(0, 9)))
def test_batches_hold_all_pairs_exactly_once(pairs, size, seed):
    every = [tuple(map(tuple, pair)) for pair in pairs]
    made = list(batches(pairs, size, seed=seed))
    found = [pair for batch in made for pair in unpad(batch)]
    assert Counter(found) == Counter(every)
    assert [len(batch) for batch in made[:-1]] == [size] * (len(made) - 1)
    assert 1 <= len(made[-1]) <= size
    if seed is None:
        assert found == every


@given(pairs=pair_lists)
def test_the_decoder_reads_the_token_before_the_one_it_predicts(pairs):
    batch = collate(pairs)
    assert (batch.target_in[:, 0] == 1).all()
    assert torch.equal(batch.target_in[:, 1:], batch.target_out[:, :-1])
    assert (batch.target_in.shape, batch.target_mask.shape) == (batch.target_out.shape,) * 2
    last = batch.target_mask.sum(1) - 1
    assert (batch.target_out[torch.arange(len(batch)), last] == EOS).all()
    assert (batch.source[~batch.source_mask] == 0).all()


PAIRS = [([number, EOS], [number, number, EOS]) for number in range(3, 40)]


def same(one, other):
    return all(
        torch.equal(a, b) for a, b in zip(*(vars(b).values() for b in (one, other)), strict=True)
    )


def test_the_same_seed_gives_the_same_batches_whatever_torch_drew_before():
    torch.manual_seed(1)
    first = list(batches(PAIRS, 5, seed=7))
    torch.rand(11)
    second = list(batches(PAIRS, 5, seed=7))
    assert all(map(same, first, second))
    other = list(batches(PAIRS, 5, seed=8))
    assert not all(map(same, first, other))
    state = torch.get_rng_state()
    list(batches(PAIRS, 5, seed=7))
    assert torch.equal(torch.get_rng_state(), state)


def test_endless_batches_go_through_all_pairs_in_a_new_order_each_time():
    rounds = -(-len(PAIRS) // 5)
    made = list(islice(endless_batches(PAIRS, 5, seed=3), 3 * rounds))
    orders = [
        [pair for batch in made[start : start + rounds] for pair in unpad(batch)]
        for start in range(0, 3 * rounds, rounds)
    ]
    every = Counter((tuple(s), tuple(t)) for s, t in PAIRS)
    assert all(Counter(order) == every for order in orders)
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert all(map(same, made[:rounds], batches(PAIRS, 5, seed=3)))


def test_a_batch_moves_whole_to_another_device():
    batch = collate(PAIRS[:3])
    moved = batch.to("meta")
    assert isinstance(moved, Batch)
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}
    assert {tensor.device.type for tensor in vars(batch).values()} == {"cpu"}
    assert same(batch.to("cpu"), batch)


def test_an_empty_sequence_and_a_text_are_named():
    with pytest.raises(TypeError, match=r"^sequences\[0\] must"):
        collate([("3 mars", "03-03")])
