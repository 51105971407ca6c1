"""Speculative decoding leaves the target model's distribution as it is."""

import pytest
import torch

from gates2heads.decoding.speculative import verify

DRAFT = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], dtype=torch.double)
TARGET = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]], dtype=torch.double)
RUNS = 20_000


def runs(count=RUNS):
    draw = torch.Generator().manual_seed(0)
    for _ in range(count):
        drafted = torch.multinomial(DRAFT, 1, generator=draw)[:, 0]
        yield drafted, verify(drafted, DRAFT.log(), TARGET.log(), generator=draw)


def test_the_first_token_is_distributed_as_the_target_says():
    counts = torch.zeros(3, dtype=torch.double)
    for _, found in runs():
        counts[found[0]] += 1
    torch.testing.assert_close(counts / RUNS, TARGET[0], atol=0.015, rtol=0)


def test_the_second_token_is_too_wherever_there_is_one():
    counts, total = torch.zeros(3, dtype=torch.double), 0
    for _, found in runs():
        if len(found) > 1:
            counts[found[1]] += 1
            total += 1
    torch.testing.assert_close(counts / total, TARGET[1], atol=0.02, rtol=0)


def test_the_share_of_accepted_tokens_by_hand():
    """Σ min(p, q) = 0.2 + 0.5 + 0 = 0.7 of the first drafted tokens are accepted."""
    accepted = sum(len(found) > 1 for _, found in runs()) / RUNS
    assert accepted == pytest.approx(0.7, abs=0.015)


def test_a_draft_that_is_the_target_is_always_accepted():
    for drafted in ([0, 1], [2, 0]):
        found = verify(torch.tensor(drafted), TARGET[:2].log(), TARGET.log())
        assert found[:2].tolist() == drafted
        assert len(found) == 3


def test_target_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="must have 3 rows for 2 drafted tokens, got 2"):
        verify(torch.tensor([0, 1]), DRAFT.log(), TARGET[:2].log())
