"""cross_entropy: mean surprise at the real tokens, padding left out of sum and count."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.pairs import collate
from gates2heads.training.losses import (
    ROWS,
    cross_entropy,
    r_drop_loss,
    sequence_loss,
)

B, T, V = 3, 5, 7
MASK = torch.arange(T) < torch.tensor([5, 2, 3])[:, None]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("mask", [None, MASK, MASK[1], MASK[:, :1]])
def test_agrees_with_torch(mask, smoothing, parity):
    ours = torch.randn(B, T, V).double().requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    target = torch.randint(0, V, (B, T))
    loss = cross_entropy(ours, target, mask=mask, label_smoothing=smoothing)
    kept = target if mask is None else target.masked_fill(~mask.expand(B, T), -100)
    expected = F.cross_entropy(
        theirs.flatten(0, 1), kept.flatten(), ignore_index=-100, label_smoothing=smoothing
    )
    loss.backward()
    expected.backward()
    parity(
        "cross_entropy(mask, label_smoothing)",
        "F.cross_entropy(ignore_index)",
        ([loss], [expected]),
        ([ours.grad], [theirs.grad]),
    )
    if mask is not None:
        assert (ours.grad[~mask.expand(B, T)] == 0).all()


def test_by_hand():
    # Probabilities 1/6, 2/6, 3/6 of three tokens, at two steps; the targets are the last and the
    # first: −ln 1/2 and −ln 1/6. Their mean is (ln 2 + ln 6) / 2 = ln 12 / 2.
    logits = torch.tensor([[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]]).log()
    target = torch.tensor([[2, 0]])
    assert cross_entropy(logits, target).item() == pytest.approx(math.log(12) / 2)
    only = torch.tensor([[True, False]])
    assert cross_entropy(logits, target, mask=only).item() == pytest.approx(math.log(2))
    # Smoothing of 0.3 gives each token 0.1 and the target 0.7 more:
    # 0.8 ln 2 + 0.1 ln 3 + 0.1 ln 6 = 0.9 ln 2 + 0.2 ln 3.
    smooth = cross_entropy(logits, target, mask=only, label_smoothing=0.3)
    assert smooth.item() == pytest.approx(0.9 * math.log(2) + 0.2 * math.log(3))


def test_integers_of_either_kind_are_targets():
    logits, target = torch.randn(B, T, V), torch.randint(0, V, (B, T))
    assert torch.equal(cross_entropy(logits, target), cross_entropy(logits, target.int()))


@given(seed=st.integers(0, 2**31), extra=st.integers(1, 7))
def test_more_padding_changes_nothing(seed, extra):
    torch.manual_seed(seed)
    logits, target = torch.randn(B, T, V).double(), torch.randint(0, V, (B, T))
    expected = cross_entropy(logits, target, mask=MASK)
    wide = F.pad(logits, (0, 0, 0, extra), value=5.0), F.pad(target, (0, extra), value=3)
    torch.testing.assert_close(cross_entropy(*wide, mask=F.pad(MASK, (0, extra))), expected)


def test_sequence_loss_averages_over_the_real_targets_of_a_batch():
    batch = collate([([3, 2], [4, 5, 2]), ([3, 2], [2])])
    logits = torch.randn(2, 3, V)
    real = [(0, 0, 4), (0, 1, 5), (0, 2, 2), (1, 0, 2)]
    expected = -sum(logits[row, t].log_softmax(-1)[token] for row, t, token in real) / 4
    torch.testing.assert_close(sequence_loss(lambda given: logits, batch), expected)


def test_many_rows_are_read_in_parts():
    logits = torch.randn(2, ROWS + 3, V).double().requires_grad_()
    target = torch.randint(0, V, (2, ROWS + 3))
    loss = cross_entropy(logits, target, label_smoothing=0.3)
    expected = F.cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=0.3)
    torch.testing.assert_close(loss, expected)
    gradients = [torch.autograd.grad(3 * value, logits)[0] for value in (loss, expected)]
    torch.testing.assert_close(*gradients)


def test_a_token_that_is_ruled_out_costs_nothing():
    logits = torch.tensor([[[0.0, 0.0, -torch.inf]]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([[1]]))
    assert loss.item() == pytest.approx(math.log(2))
    assert torch.autograd.grad(loss, logits)[0].tolist() == [[[0.5, -0.5, 0.0]]]


def test_the_loss_of_bf16_logits_is_taken_in_full_precision():
    logits = torch.randn(B, T, V).bfloat16().requires_grad_()
    target = torch.randint(0, V, (B, T))
    loss = cross_entropy(logits, target)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, cross_entropy(logits.float(), target), rtol=0, atol=1e-7)
    assert torch.autograd.grad(loss, logits)[0].dtype == torch.bfloat16


class Doubting(torch.nn.Module):
    """Answers with one table of logits for the first half of a batch and another for the second."""

    def __init__(self, one, other):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.stack([one, other]))

    def forward(self, batch):
        return self.logits.repeat_interleave(len(batch) // 2, dim=0)


def test_r_drop_by_hand():
    # One token of two: the first pass gives it 3/4, the second 1/4. The surprise is
    # (ln 4/3 + ln 4) / 2; the passes are apart by (3/4 − 1/4) ln 3 + (1/4 − 3/4) ln 1/3 = ln 3.
    passes = torch.tensor([[[3.0, 1.0]], [[1.0, 3.0]]]).log()
    batch = collate([([0], [0])])
    surprise = (math.log(4 / 3) + math.log(4)) / 2
    for weight in (0.0, 1.0, 2.5):
        loss = r_drop_loss(Doubting(*passes), batch, weight=weight)
        assert loss.item() == pytest.approx(surprise + weight * 0.5 * math.log(3))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_r_drop_agrees_with_the_formula_written_out(smoothing, parity):
    batch = collate([([3], [4, 5, 2]), ([3], [2])])
    one, other = torch.randn(2, 3, V).double()
    ours, theirs = Doubting(one, other), Doubting(one, other)
    loss = r_drop_loss(ours, batch, weight=0.7, label_smoothing=smoothing)
    real = batch.target_mask
    surprises = sum(
        F.cross_entropy(logits.expand(2, 3, V)[real], batch.target_out[real], **options)
        for logits in theirs.logits
        for options in [{"label_smoothing": smoothing}]
    )
    p, q = theirs.logits.log_softmax(-1)[:, None].expand(2, 2, 3, V)[:, real]
    forth = F.kl_div(q, p, reduction="batchmean", log_target=True)
    back = F.kl_div(p, q, reduction="batchmean", log_target=True)
    expected = 0.5 * surprises + 0.7 * 0.5 * (forth + back)
    loss.backward()
    expected.backward()
    gradients = ([ours.logits.grad], [theirs.logits.grad])
    parity("r_drop_loss", "F.cross_entropy, F.kl_div", ([loss], [expected]), gradients)


def test_r_drop_without_dropout_is_the_loss_alone():
    batch = collate([([3, 2], [4, 5, 2]), ([3, 2], [2])])
    logits = torch.randn(3, V)
    model = Doubting(logits, logits)
    loss = r_drop_loss(model, batch, weight=7.0, label_smoothing=0.1)
    expected = sequence_loss(model, batch, label_smoothing=0.1)
    torch.testing.assert_close(loss, expected)


def test_refuses_what_does_not_fit():
    logits, target = torch.randn(B, T, V), torch.randint(0, V, (B, T))
    with pytest.raises(ValueError, match="mask allows no token at all, so there is no loss to"):
        cross_entropy(logits, target, mask=torch.zeros(B, T).bool())


def test_a_model_that_answers_with_no_logits_is_told_so(stream):
    batch = stream()[0]
    rows, length = batch.target_out.shape
    for answer, error, message in [
        (None, TypeError, "model must"),
        (batch.source, TypeError, r"floating-point logits, got torch\.int64"),
        (torch.zeros(2, 3), ValueError, rf"must return logits \({rows}, {length}, V\), got \(2, 3"),
    ]:
        with pytest.raises(error, match=message):
            sequence_loss(lambda given, answer=answer: answer, batch)
