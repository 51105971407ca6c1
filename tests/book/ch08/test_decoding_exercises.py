"""The checks of chapter 8: right answers pass, and each plausible wrong answer gets its reason."""

import math

import pytest
import torch

from gates2heads.book.ch08 import exercises
from gates2heads.book.ch08.faulty import FAULTS, beamed, check_fault, rescored
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.decoding.sampling import keep_top_p

TEXT = "Ein Mann in Arbeitskleidung reicht einer anderen Person ein Werkzeug."


def step_in_lists(sums, log_probs, width):
    """A step of the beam as a reader with lists may write it."""
    ways = [
        (sums[m] + log_probs[m, v], m, v)
        for m in range(len(sums))
        for v in range(log_probs.shape[1])
    ]
    best = sorted(ways, key=lambda way: -way[0])[:width]
    return tuple(torch.tensor(part) for part in zip(*best, strict=True))


def cumsum_below(probs, share):
    """The classic mistake: the token that reaches the threshold is dropped."""
    ranked, order = probs.sort(descending=True)
    kept = torch.zeros_like(probs)
    kept[order[ranked.cumsum(0) < share]] = probs[order[ranked.cumsum(0) < share]]
    return kept / kept.sum()


def multiplied_step(sums, log_probs, width):
    """It multiplies the sums by the log-probabilities."""
    best = (sums[:, None] * log_probs).flatten().topk(width)
    return best.values, best.indices // log_probs.shape[1], best.indices % log_probs.shape[1]


def forgetful_step(sums, log_probs, width):
    """It sorts by the last token alone, and then adds."""
    best = log_probs.flatten().topk(width).indices
    size = log_probs.shape[1]
    return (sums[:, None] + log_probs).flatten()[best], best // size, best % size


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_beam_step, step_in_lists),
        (
            exercises.check_tie,
            lambda a, b: (math.log(-a[0]) - math.log(-b[0])) / (math.log(a[1]) - math.log(b[1])),
        ),
        (
            exercises.check_errors,
            lambda x: torch.tensor(
                [sum(max(row) - row[w] > 1e-3 for row in x.tolist()) / len(x)
                 for w in range(x.shape[1])]
            ),
        ),
        (exercises.check_nucleus, lambda p, share: keep_top_p(p.log(), share).exp()),
    ],
)  # fmt: skip
def test_another_way_to_be_right(check, answer):
    verdict = check(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (exercises.check_beam_step, forgetful_step, "expected"),
        (exercises.check_beam_step, lambda s, p, k: (s + p).topk(k), "raised"),
        (
            exercises.check_beam_step,
            lambda s, p, k: (s[:, None] + p).flatten().topk(k),
            "3 results",
        ),
        (exercises.check_tie, lambda a, b: a[0] / a[1] - b[0] / b[1], "expected"),
        (exercises.check_tie, lambda a, b: math.log(b[1] / a[1]) / math.log(b[0] / a[0]), "1/α"),
        (exercises.check_tie, lambda a, b: math.log(a[0] / b[0]), "raised|expected"),
        (exercises.check_errors, lambda x: (x < x.amax(1, keepdim=True)).double().mean(0), "0.001"),
        (
            exercises.check_errors,
            lambda x: (x < x.max() - 1e-3).double().mean(0),
            "over all captions",
        ),
        (exercises.check_errors, lambda x: x.mean(0), "expected"),
        (exercises.check_nucleus, lambda p, share: p * (p > share), "expected"),
        (exercises.check_nucleus, lambda p, share: p, "expected"),
        (exercises.check_nucleus, cumsum_below, "`cumsum < p` drops the token"),
        (exercises.check_beam_step, multiplied_step, "log-probabilities are multiplied"),
        (exercises.check_errors, lambda x: (x < x.amax(0) - 1e-3).double().mean(1), "wrong axis"),
        (
            exercises.check_nucleus,
            lambda p, share: keep_top_p(p.log(), share).exp().sort(descending=True).values,
            "returned sorted",
        ),
    ],
)
def test_a_wrong_answer_gets_its_reason(check, answer, words):
    verdict = check(answer)
    assert not verdict.passed
    assert any(word in verdict.message for word in words.split("|")), verdict.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((1024, 50), "4 to the power 5"),
        ((20, 50), "choices multiply"),
        ((600, 50), "for the second after each"),
        ((625, 60), "at every step"),
        ((625, 20), "first two steps"),
        ((625, 12), "that enter each step"),
        ((625, 46), "not 1"),
        ((625, 625), "does not score every"),
        ((625, 7), "for each step"),
        ((625, "fifty"), "should be a number"),
        ((True, 50), "should be a number"),
        ((..., 50), "not tried yet"),
    ],
)
def test_slips_of_the_pencil(given, words):
    verdict = exercises.check_counts(*given)
    assert not verdict.passed
    assert words in verdict.message


def test_the_counts():
    """5 · 5 · 5 · 5 sequences; one prefix at first, then three, with 5 tokens each."""
    assert exercises.check_counts(5 * 5 * 5 * 5, 5 + 15 + 15 + 15)


def test_a_step_by_hand():
    """0.3 · 0.9 = 0.27, 0.4 · 0.5 = 0.2, 0.4 · 0.3 = 0.12; the others have less."""
    sums = torch.tensor([0.4, 0.3]).log()
    log_probs = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.06, 0.04]]).log()
    best, prefixes, tokens = exercises.beam_step(sums, log_probs, 3)
    torch.testing.assert_close(best.exp(), torch.tensor([0.27, 0.2, 0.12]))
    assert (prefixes.tolist(), tokens.tolist()) == ([1, 0, 0], [0, 0, 1])


def test_the_tie_is_one():
    """At the α that is found, both have the same score."""
    alpha = exercises.tie((-4.86, 10), (-5.28, 13))
    assert -4.86 / 10**alpha == pytest.approx(-5.28 / 13**alpha)


# ---- the faulty beam


@pytest.fixture(scope="module")
def one():
    return shipped("translator")


def sides(one):
    return one.model, TEXT, one.source, one.target


def test_with_one_place_the_fault_is_none(one):
    sound, faulty = (beamed(*sides(one), width=1, faulty=on) for on in (False, True))
    assert sound == faulty


def test_the_fault_tells_a_log_probability_that_the_model_does_not_give(one):
    sound, faulty = (beamed(*sides(one), width=5, faulty=on) for on in (False, True))
    told = [rescored(*sides(one), found.tokens) for found in (sound, faulty)]
    assert sound.log_prob == pytest.approx(told[0], abs=1e-3)
    assert abs(faulty.log_prob - told[1]) > 0.1
    end = one.target.vocabulary.eos
    assert faulty.tokens.index(end) == len(faulty.tokens) - 1


@pytest.mark.parametrize("letter", [*FAULTS, "e", 3])
def test_only_the_true_fault_is_right(letter):
    verdict = check_fault(letter)
    assert verdict.passed == (letter == "b")
