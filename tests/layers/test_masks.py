"""masked_softmax: among the allowed positions a softmax, elsewhere nothing at all."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.masks import masked_softmax

ROWS, LENGTH = 7, 5


def slow_masked_softmax(scores, mask):
    """Row by row, over the allowed scores only."""
    rows = []
    for row, allowed in zip(scores, mask, strict=True):
        chosen = [row[i] for i in range(len(row)) if allowed[i]]
        total = sum(score.exp() for score in chosen)
        zero = row.new_zeros(())
        rows.append(
            torch.stack([row[i].exp() / total if allowed[i] else zero for i in range(len(row))])
        )
    return torch.stack(rows)


def random_mask(rows=ROWS, length=LENGTH, seed=3):
    mask = torch.rand(rows, length, generator=torch.Generator().manual_seed(seed)) < 0.6
    mask[torch.arange(rows), torch.arange(rows) % length] = True  # no row without a position
    return mask


def test_agrees_with_a_softmax_over_the_allowed_positions(parity):
    mask, weights = random_mask(), torch.randn(ROWS, LENGTH, dtype=torch.double)
    ours = torch.randn(ROWS, LENGTH, dtype=torch.double, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    out, reference = masked_softmax(ours, mask=mask), slow_masked_softmax(theirs, mask)
    (out * weights).sum().backward()
    (reference * weights).sum().backward()
    parity(
        "masked_softmax",
        "softmax of the allowed scores, row by row",
        ([out], [reference]),
        ([ours.grad], [theirs.grad]),
    )


def test_without_a_mask_is_the_softmax_of_torch(parity):
    ours = torch.randn(ROWS, LENGTH, dtype=torch.double, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    out, reference = masked_softmax(ours), F.softmax(theirs, dim=-1)
    out.square().sum().backward()
    reference.square().sum().backward()
    parity("masked_softmax", "F.softmax", ([out], [reference]), ([ours.grad], [theirs.grad]))


def test_by_hand():
    scores = torch.tensor([math.log(1), math.log(2), math.log(3)])
    # e^score is 1, 2, 3; their sum is 6, and 4 without the middle one.
    torch.testing.assert_close(masked_softmax(scores), torch.tensor([1 / 6, 2 / 6, 3 / 6]))
    without = masked_softmax(scores, mask=torch.tensor([True, False, True]))
    torch.testing.assert_close(without, torch.tensor([1 / 4, 0, 3 / 4]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_row_that_may_attend_to_nothing_gives_zeros_and_zero_gradients(dtype):
    scores = torch.randn(3, LENGTH, dtype=dtype, requires_grad=True)
    mask = torch.ones(3, LENGTH, dtype=torch.bool)
    mask[1] = False
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either, which would raise
        weights = masked_softmax(scores, mask=mask)
        (weights * torch.arange(LENGTH)).sum().backward()
    assert (weights[1] == 0).all()
    assert (scores.grad[1] == 0).all()
    assert (scores.grad[0] != 0).any()


@pytest.mark.parametrize("nonsense", [math.nan, math.inf, -math.inf, 1e38])
def test_what_stands_at_a_masked_position_does_not_matter(nonsense):
    mask = random_mask()
    scores = torch.randn(ROWS, LENGTH)
    spoiled = scores.masked_fill(~mask, nonsense).requires_grad_()
    weights = masked_softmax(spoiled, mask=mask)
    torch.testing.assert_close(weights, masked_softmax(scores, mask=mask), rtol=0, atol=0)
    weights.square().sum().backward()
    assert spoiled.grad.isfinite().all()
    assert (spoiled.grad[~mask] == 0).all()


def test_changes_no_argument():
    scores, mask = torch.randn(ROWS, LENGTH), random_mask()
    kept = scores.clone(), mask.clone()
    masked_softmax(scores, mask=mask)
    assert torch.equal(scores, kept[0])
    assert torch.equal(mask, kept[1])


@given(st.data())
def test_rows_sum_to_one_or_to_nothing_and_a_shift_changes_nothing(data):
    length = data.draw(st.integers(1, 7))
    numbers = st.floats(-80, 80, width=32)
    scores = torch.tensor(data.draw(st.lists(numbers, min_size=length, max_size=length)))
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)))
    weights = masked_softmax(scores.double(), mask=mask)
    assert weights.sum().item() == pytest.approx(float(mask.any()), abs=1e-12)
    assert (weights[~mask] == 0).all()
    assert (weights >= 0).all()
    shift = data.draw(numbers)
    shifted = masked_softmax(scores.double() + shift, mask=mask)
    torch.testing.assert_close(shifted, weights, rtol=1e-9, atol=1e-12)
