"""The area under the curve: against SciPy's rank sum, pair by pair, by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from gates2heads.metrics.detection import area_under_curve

N, U = 61, 7


def drawn(seed, ties):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(N, U, generator=generator)
    scores = scores.round() if ties else scores
    return scores, torch.rand(N, generator=generator) < 0.4


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_equals_scipy(seed, ties):
    scores, labels = drawn(seed, ties)
    found = area_under_curve(scores, labels)
    for unit in range(U):
        wins = mannwhitneyu(scores[labels, unit].numpy(), scores[~labels, unit].numpy()).statistic
        pairs = int(labels.sum()) * int((~labels).sum())
        assert found[unit].item() == pytest.approx(wins / pairs, abs=1e-12)


def test_by_hand():
    # True at 3 and 1, False at 2, 1 and 0. Of the six pairs, 3 wins three; 1 loses to 2, ties with
    # 1, wins against 0: 4.5 of 6.
    scores = torch.tensor([3.0, 2.0, 1.0, 1.0, 0.0])
    labels = torch.tensor([True, False, True, False, False])
    assert area_under_curve(scores, labels).item() == 0.75
    assert area_under_curve(-scores, labels).item() == 0.25
    assert area_under_curve(labels.float(), labels).item() == 1
    assert area_under_curve(torch.zeros(5), labels).item() == 0.5


@given(st.integers(0, 2**31), st.booleans())
def test_only_the_order_counts_and_turning_the_sign_round_mirrors_it(seed, ties):
    scores, labels = drawn(seed, ties)
    area = area_under_curve(scores, labels)
    assert ((area >= 0) & (area <= 1)).all()
    torch.testing.assert_close(area_under_curve(scores.double().exp(), labels), area)
    torch.testing.assert_close(area_under_curve(-scores, labels), 1 - area)
    torch.testing.assert_close(area_under_curve(scores, ~labels), 1 - area)
    order = torch.randperm(N)
    torch.testing.assert_close(area_under_curve(scores[order], labels[order]), area)


@pytest.mark.parametrize(
    ("scores", "labels", "error", "message"),
    [
        (torch.ones(2), torch.ones(3).bool(), ValueError, r"\(N, U\) and \(N,\), got \(2,\) and"),
        (torch.ones(2) * torch.nan, torch.tensor([True, False]), ValueError, "got NaN"),
        (torch.ones(2), torch.ones(2).bool(), ValueError, "labels must"),
    ],
)
def test_a_mistake_gets_one_sentence(scores, labels, error, message):
    with pytest.raises(error, match=message):
        area_under_curve(scores, labels)
