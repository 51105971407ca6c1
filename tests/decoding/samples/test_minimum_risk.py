"""Minimum Bayes risk: by hand, and by its definition."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.minimum_risk import expected_utility, pairwise_utility


def overlap(one: str, other: str) -> float:
    """The share of one's words that the other has."""
    words = one.split()
    return sum(word in other.split() for word in words) / len(words)


def test_the_hypothesis_that_resembles_the_others_wins_over_the_most_probable():
    """P = 0.4, 0.3, 0.3. The first shares nothing with the others; these share a half."""
    hypotheses, probs = ["stop", "a dog", "a cat"], torch.tensor([0.4, 0.3, 0.3]).double()
    utilities = pairwise_utility(hypotheses, overlap)
    assert utilities.tolist() == [[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]
    torch.testing.assert_close(
        expected_utility(utilities, probs.log()), torch.tensor([0.4, 0.45, 0.45]).double()
    )


@given(st.integers(1, 7), st.integers(0, 1000))
def test_it_is_the_weighted_mean_over_the_columns(size, seed):
    draw = torch.Generator().manual_seed(seed)
    utilities = torch.rand(size, size, generator=draw).double()
    log_probs = torch.randn(size, generator=draw).double()
    total = sum(log_probs.exp().tolist())
    for row, found in zip(utilities, expected_utility(utilities, log_probs), strict=True):
        by_hand = sum(
            u * p / total for u, p in zip(row.tolist(), log_probs.exp().tolist(), strict=True)
        )
        assert found.item() == pytest.approx(by_hand, abs=1e-6)
    torch.testing.assert_close(expected_utility(utilities), utilities.mean(1), atol=1e-6, rtol=0)
