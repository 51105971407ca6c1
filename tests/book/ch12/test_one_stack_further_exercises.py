"""The checks on the Further page of chapter 12: right answers pass, wrong ones get a reason."""

import pytest
import torch

from gates2heads.book.ch12 import further_exercises as further
from gates2heads.book.ch12.experts import MixtureOfExperts
from gates2heads.layers.attention.heads import scaled_dot

WRONG = [
    (further.check_merge, lambda *a: a[:3], "for total"),
    (
        further.check_merge,
        lambda a, b, c, d, e, f: (torch.maximum(a, d), b + e, c + f),
        "without the factors",
    ),
    (
        further.check_merge,
        lambda a, b, c, d, e, f: (torch.maximum(a, d), further.merge(a, b, c, d, e, f)[1], c + f),
        "missing in `mixed`",
    ),
    (further.check_merge, lambda a, b, c, d, e, f: further.merge(a, b, c, d, e, f)[:2], "3"),
    (further.check_merge, lambda a, b, c: c, "take 6 arguments"),
    (further.check_balance, lambda p: further.balance(p) / p.shape[1], "factor E is missing"),
    (further.check_balance, lambda p: p.shape[1] * p.mean(0).square().sum(), "are squared"),
    (further.check_balance, lambda p: further.balance(p.detach()), "no gradient"),
    (further.check_balance, lambda p: p.mean(), "expected"),
    (further.check_balance, lambda p: 1 / 0, "raised ZeroDivisionError"),
]


@pytest.mark.parametrize(("checker", "answer", "reason"), WRONG)
def test_a_wrong_answer_gets_its_reason(checker, answer, reason):
    verdict = checker(answer)
    assert not verdict.passed
    assert reason in verdict.message


@pytest.mark.parametrize("checker", [further.check_merge, further.check_balance])
def test_the_stub_is_no_answer_and_the_solution_is(checker):
    assert checker(checker.solution).passed
    assert "not tried yet" in checker(lambda *arguments: ...).message


def test_other_right_ways_pass():
    def by_logarithms(largest_a, total_a, mixed_a, largest_b, total_b, mixed_b):
        largest = torch.where(largest_a > largest_b, largest_a, largest_b)
        return (
            largest,
            (total_a.log() + largest_a - largest).exp()
            + (total_b.log() + largest_b - largest).exp(),
            mixed_a * torch.exp(largest_a - largest) + mixed_b * torch.exp(largest_b - largest),
        )

    def by_counting(probabilities):
        chosen, experts = probabilities.argmax(dim=1), probabilities.shape[1]
        counts = torch.bincount(chosen, minlength=experts)
        return experts * torch.dot(counts / len(chosen), probabilities.mean(dim=0))

    assert further.check_merge(by_logarithms).passed
    assert further.check_balance(by_counting).passed


def test_a_merge_by_hand():
    """Scores ln 2 with value 6, and two scores 0 with values 4 and 5, over exp(ln 2)."""
    one = torch.ones(1, 1)
    largest = torch.tensor([[2.0]]).log()
    found = further.merge(largest, one, 6 * one, 0 * one, 2 * one, 9 * one)
    assert [number.item() for number in found] == pytest.approx([largest.item(), 2, 10.5])


def test_the_merged_parts_are_attention():
    query, key, value = (torch.randn(size) for size in ((3, 5), (7, 5), (7, 2)))
    scores = query @ key.T / 5**0.5
    parts = (further._parts(scores[:, rows], value[rows]) for rows in (slice(2), slice(2, 7)))
    first, second = parts
    _, total, mixed = further.merge(*first, *second)
    torch.testing.assert_close(mixed / total, scaled_dot(query, key, value)[0])


def test_the_balance_is_that_of_the_layer():
    mixture, vectors = MixtureOfExperts(5, 7, 3), torch.randn(2, 11, 5)
    mixture(vectors)
    probabilities = mixture.router(vectors).softmax(dim=-1).flatten(0, 1)
    torch.testing.assert_close(further.balance(probabilities), mixture.balance)
