"""Masks made from positions and lengths; masked_softmax is tested in test_masks.py."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.masks import causal_mask, key_mask, length_mask


def test_causal_mask_by_hand():
    yes, no = True, False
    square = torch.tensor([[yes, no, no], [yes, yes, no], [yes, yes, yes]])
    assert torch.equal(causal_mask(3), square)
    # two new queries after one old key
    assert torch.equal(causal_mask(2, 3), torch.tensor([[yes, yes, no], [yes, yes, yes]]))


@given(queries=st.integers(1, 6), old=st.integers(0, 5))
def test_causal_mask_counts_what_came_before(queries, old):
    mask = causal_mask(queries, queries + old)
    assert mask.dtype == torch.bool
    assert mask.sum(1).tolist() == [old + number + 1 for number in range(queries)]
    assert torch.equal(mask, mask.sort(dim=1, descending=True).values)  # the first ones


@given(lengths=st.lists(st.integers(0, 6), min_size=1, max_size=5), more=st.integers(1, 3))
def test_length_mask(lengths, more):
    size = max(lengths) + more
    mask = length_mask(torch.tensor(lengths), size)
    assert mask.tolist() == [[True] * n + [False] * (size - n) for n in lengths]


def test_length_mask_takes_the_longest():
    assert length_mask(torch.tensor([2, 5, 3])).shape == (3, 5)


def test_key_mask_adds_heads_and_queries():
    mask = length_mask(torch.tensor([2, 5]))
    assert key_mask(mask).shape == (2, 1, 1, 5)
    assert torch.equal(key_mask(mask)[:, 0, 0], mask)
    assert key_mask(None) is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: length_mask(torch.tensor([4, 1]), 3),
            ValueError,
            r"lengths must",
        ),
        (lambda: length_mask(torch.tensor([-1, 2])), ValueError, "lengths must"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
