"""Chapter 9, Evaluation: checks of the exercises on comparisons of systems and raters."""

from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck


def permutation_p(counts_a: Tensor, counts_b: Tensor, coins: Tensor, score: Callable) -> float:
    """The solution of exercise 9.4: the two-sided p-value of the permutation test.

    Args:
        counts_a, counts_b: (N, D), what was counted in each sentence.
        coins: (M, N) bool, True = the two outputs of this sentence are swapped.
        score: turns summed counts (D,) into a number.
    """
    observed = abs(score(counts_a.sum(0)) - score(counts_b.sum(0)))
    gaps = [abs(_gap(counts_a, counts_b, swapped, score)) for swapped in coins]
    return (sum(gap >= observed for gap in gaps) + 1) / (len(gaps) + 1)


def _gap(counts_a: Tensor, counts_b: Tensor, swapped: Tensor, score: Callable) -> float:
    first = counts_a[~swapped].sum(0) + counts_b[swapped].sum(0)
    second = counts_b[~swapped].sum(0) + counts_a[swapped].sum(0)
    return score(first) - score(second)


def _gap_with(way: str) -> Callable:
    """The difference after a permutation, by a plausible mistake."""

    def wrong(counts_a, counts_b, swapped, score):
        first = torch.where(swapped[:, None], counts_b, counts_a)
        second = torch.where(swapped[:, None], counts_a, counts_b)
        if way == "one system":
            second = counts_b
        if way == "left out":
            first, second = counts_a[~swapped], counts_b[~swapped]
        if way == "whole set" and swapped[0]:
            first, second = counts_b, counts_a
        if way == "whole set" and not swapped[0]:
            first, second = counts_a, counts_b
        if way == "means":
            of_each = [score(x) - score(y) for x, y in zip(first, second, strict=True)]
            return sum(of_each) / len(of_each)
        if way == "columns":
            odd = torch.arange(counts_a.shape[1]) % 2 == 0
            first = torch.where(swapped[:, None] & odd, counts_b, counts_a)
            second = torch.where(swapped[:, None] & odd, counts_a, counts_b)
        return score(first.sum(0)) - score(second.sum(0))

    return wrong


def _p_with(way: str = "", *, gap: str = "") -> Callable:
    gap_of = _gap_with(gap) if gap else _gap

    def wrong(counts_a, counts_b, coins, score):
        still = torch.zeros_like(coins[0])
        observed = gap_of(counts_a, counts_b, still, score)
        gaps = [gap_of(counts_a, counts_b, swapped, score) for swapped in coins]
        if way == "leader":
            sign = -1 if observed < 0 else 1
            extreme = sum(sign * one >= sign * observed for one in gaps)
        elif way == "one-sided":
            extreme = sum(one >= observed for one in gaps)
        elif way == "strict":
            extreme = sum(abs(one) > abs(observed) for one in gaps)
        elif way == "below 0":
            extreme = sum(one * observed <= 0 for one in gaps)
        else:
            extreme = sum(abs(one) >= abs(observed) for one in gaps)
        ways = {
            "bare": extreme / len(gaps),
            "numerator": (extreme + 1) / len(gaps),
            "denominator": extreme / (len(gaps) + 1),
            "number": extreme + 1,
            "bare number": extreme,
            "complement": 1 - (extreme + 1) / (len(gaps) + 1),
        }
        return ways.get(way, (extreme + 1) / (len(gaps) + 1))

    return wrong


def matched(total: Tensor) -> float:
    """The score of exercise 9.4's cases.

    Args:
        total: (D,) with D = 2, the matches and the n-grams.

    Returns:
        the matches in percent of the n-grams.
    """
    return 100 * float(total[0]) / max(float(total[1]), 1.0)


def _permutation_cases() -> list[Case]:
    draw = torch.Generator().manual_seed(2)
    totals = torch.randint(3, 17, (2, 11), generator=draw)
    found = (torch.rand((2, 11), generator=draw) * totals).long()
    a, b = torch.stack([found, totals], 2)
    coins = torch.rand((37, 11), generator=draw) < 0.5
    few = torch.tensor([[3, 4], [1, 2]]), torch.tensor([[1, 4], [0, 2]])
    every = torch.tensor([[False, False], [True, False], [False, True], [True, True]])
    lead = torch.tensor([[2, 9], [1, 5], [4, 7]]), torch.tensor([[8, 9], [3, 5], [3, 7]])
    some = torch.tensor([[True, False, False], [False, False, True], [False, True, True],
                         [True, True, True], [True, True, False]])  # fmt: skip
    return [
        Case("the two captions calculated by hand, all four permutations",
             (*few, every, matched), 3 / 5),
        Case("three captions, of which B translates two better", (*lead, some, matched)),
        Case("eleven captions and 37 permutations", (a, b, coins, matched)),
    ]  # fmt: skip


check_permutation = FunctionCheck(
    title="Exercise 9.4",
    solution=permutation_p,
    cases=_permutation_cases,
    mistakes={
        "the 1 is missing: the observed assignment is itself a permutation and is counted with the "
        "others, in the numerator and in the denominator": _p_with("bare"),
        "1 is added to the numerator only: the denominator grows by 1 too": _p_with("numerator"),
        "1 is added to the denominator only: the observed assignment is as extreme as itself and "
        "counts in the numerator too": _p_with("denominator"),
        "differences equal to the observed one are not counted: “at least as large” is ≥": (
            _p_with("strict")
        ),
        "only a lead of the system that is ahead is counted: the test is two-sided, so compare "
        "absolute values": _p_with("leader"),
        "the sign of the differences matters: the test is two-sided, so compare absolute values": (
            _p_with("one-sided")
        ),
        "you count the permutations in which the other system leads: a permutation test counts "
        "differences at least as large as the observed one": _p_with("below 0"),
        "only one system receives the outputs of the other: swap both": _p_with(gap="one system"),
        "captions with the coin True are left out: swap their outputs, and keep all captions": (
            _p_with(gap="left out")
        ),
        "one coin decides for the whole test set: each caption has its own": (
            _p_with(gap="whole set")
        ),
        "only some columns of the counts are swapped: an output moves with all its counts": (
            _p_with(gap="columns")
        ),
        "this compares means of sentence scores: add the counts, then score once": (
            _p_with(gap="means")
        ),
        "this is a number of permutations instead of a proportion": _p_with("number"),
        "this is a number of permutations, without the observed one, instead of a proportion": (
            _p_with("bare number")
        ),
        "this is 1 − p": _p_with("complement"),
    },
    remark="`metrics.significance.paired_bootstrap` computes the interval that belongs to it.",
)


def kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """The solution of exercise 9.6: Cohen's kappa of two lists of labels."""
    items = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / items
    one, other = Counter(first), Counter(second)
    chance = sum(one[label] * other[label] for label in one) / items**2
    return 1.0 if chance == 1 else (observed - chance) / (1 - chance)


def _kappa_with(way: str) -> Callable:
    def wrong(first, second):
        items = len(first)
        observed = sum(a == b for a, b in zip(first, second, strict=True)) / items
        one, other = Counter(first), Counter(second)
        kinds = set(one) | set(other)
        chance = {
            "none": 0.0,
            "uniform": 1 / len(kinds),
            "pooled": sum(((one[k] + other[k]) / (2 * items)) ** 2 for k in kinds),
            "first": sum((one[k] / items) ** 2 for k in kinds),
        }.get(way, sum(one[k] * other[k] for k in kinds) / items**2)
        if way == "difference":
            return observed - chance
        return 1.0 if chance == 1 else (observed - chance) / (1 - chance)

    return wrong


def _kappa_cases() -> list[Case]:
    by_hand = ["yes"] * 7 + ["no"] * 3, ["yes"] * 5 + ["no"] * 2 + ["yes"] + ["no"] * 2
    draw = torch.Generator().manual_seed(3)
    labels = [
        ["better", "equal", "worse"][place]
        for place in torch.tensor([0.2, 0.5, 0.3])
        .multinomial(40, replacement=True, generator=draw)
        .tolist()
    ]
    other = [*labels[:25], *labels[3:18]]
    return [
        Case("the labels of Table 9.6", by_hand, 0.16 / 0.46),
        Case("opposite labels", (["a", "b", "a", "b"], ["b", "a", "b", "a"]), -1.0),
        Case("one label throughout", (["a", "a"], ["a", "a"]), 1.0),
        Case("three labels, 40 items", (labels, other)),
    ]


check_kappa = FunctionCheck(
    title="Exercise 9.6",
    solution=kappa,
    cases=_kappa_cases,
    mistakes={
        "this is the observed agreement: subtract the one expected from random labels": _kappa_with(
            "none"
        ),
        "expected agreement is taken as 1 / number of labels: use the label frequencies": (
            _kappa_with("uniform")
        ),
        "the frequencies of both annotators are pooled (Scott's π): multiply each one's own": (
            _kappa_with("pooled")
        ),
        "only the first annotator's frequencies are used": _kappa_with("first"),
        "the difference is not divided by 1 − p_e": _kappa_with("difference"),
    },
    remark="`metrics.judgements.agreement` returns p_o, p_e and κ.",
)
