"""Negative sampling on blocks: the hand-written gradients are those of autograd."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.windows import cut_blocks, join_sentences
from gates2heads.models.words.block_kernel import (
    SHARED,
    RowAdagrad,
    draw_noise,
    loss_of,
    pair_weights,
    score_gradients,
)

BLOCKS, WIDTH, COLUMNS, DIMENSIONS = 3, 5, 11, 7


@pytest.mark.parametrize("positives", [0, 4, COLUMNS])
def test_gradients_of_a_block_are_those_of_autograd(parity, positives):
    hidden = torch.randn(BLOCKS, WIDTH, DIMENSIONS, dtype=torch.double, requires_grad=True)
    output = torch.randn(BLOCKS, COLUMNS, DIMENSIONS, dtype=torch.double, requires_grad=True)
    right = torch.rand(BLOCKS, WIDTH, positives, dtype=torch.double)
    noise = torch.rand(BLOCKS, WIDTH, 1, dtype=torch.double)
    scores, *ours = score_gradients(hidden.detach(), output.detach(), right, noise)
    theirs = hidden @ output.mT
    weight = torch.cat([right, noise.expand(-1, -1, COLUMNS - positives)], dim=2)
    label = (torch.arange(COLUMNS) < positives).double().expand_as(weight)
    loss = F.binary_cross_entropy_with_logits(theirs, label, weight=weight, reduction="sum")
    parity(
        "word2vec score_gradients",
        "F.binary_cross_entropy_with_logits",
        ([scores, loss_of(scores, right, noise)[0]], [theirs, loss]),
        (ours, torch.autograd.grad(loss, (hidden, output))),
    )


@given(st.lists(st.lists(st.integers(3, 29), min_size=1, max_size=11), min_size=1))
def test_noise_counts_k_times_the_right_words(sentences):
    band = cut_blocks(join_sentences(sentences), width=WIDTH, window=3).band
    for architecture, words in (("skip-gram", band.sum()), ("cbow", band.any(2).sum())):
        right, noise = pair_weights(band, architecture, 5)
        assert torch.allclose(SHARED * noise, 5 * right.sum(2, keepdim=True))
        assert right.sum() == words


def test_row_adagrad_by_hand():
    table = RowAdagrad(torch.zeros(3, 2))
    # Row 1 comes twice: its gradients (1, 2) and (2, 2) add up to (3, 4), mean square 12.5.
    rows, gradient = torch.tensor([1, 2, 1]), torch.tensor([[1.0, 2], [0, 2], [2, 2]])
    table.step(rows, gradient, rate=0.5)
    expected = torch.tensor([[0, 0], [3, 4], [0, 2]]) / torch.tensor([1, 12.5, 2]).sqrt()[:, None]
    assert torch.allclose(table.weight, -0.5 * expected, atol=1e-5)
    before = table.weight[1].clone()
    table.step(torch.tensor([1]), torch.tensor([[3.0, 4.0]]), rate=0.5)  # the sum is now 25
    assert torch.allclose(table.weight[1] - before, -0.5 * torch.tensor([3, 4]) / 5, atol=1e-5)


def test_noise_is_drawn_as_often_as_said():
    noise = torch.tensor([0.0, 0.7, 0.1, 0.2])
    drawn = draw_noise(noise, 997, torch.Generator().manual_seed(3))
    assert drawn.shape == (997, SHARED)
    shares = torch.bincount(drawn.flatten(), minlength=4) / drawn.numel()
    assert (shares - noise).abs().max() < 0.02
