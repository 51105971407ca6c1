"""The checks of chapter 13: right answers pass, and each plausible wrong answer gets its reason."""

import pytest
import torch

from gates2heads.book.ch13 import exercises
from gates2heads.book.ch13.conflict_measures import trust
from gates2heads.book.ch13.conflicts import TOWNS

CHECK = exercises.check_context_is_true


def over_all_values(wrong, known, n):
    """Values: 0 is the memory's, 1 the context's."""
    prior = torch.tensor([known] + [(1 - known) / (n - 1)] * (n - 1), dtype=torch.double)
    likelihood = torch.full((n,), wrong / (n - 1), dtype=torch.double)
    likelihood[1] = 1 - wrong
    return (prior * likelihood / (prior * likelihood).sum())[1].item()


def as_odds(wrong, known, n):
    if wrong == 0:
        return 1.0
    other = (1 - known) / (n - 1)
    odds = other / (1 - other) * (1 - wrong) * (n - 1) / wrong
    return odds / (1 + odds)


@pytest.mark.parametrize("answer", [over_all_values, as_odds, exercises.context_is_true])
def test_right_answers_pass(answer):
    verdict = CHECK(answer)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("words", CHECK.mistakes)
def test_each_known_mistake_is_named(words):
    verdict = CHECK(CHECK.mistakes[words])
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (..., "not tried yet"),
        (lambda wrong, known, n: None, "not tried yet"),
        (lambda wrong, known: 0.5, "3 arguments"),
        (lambda wrong, known, n: known / 0, "ZeroDivisionError"),
        (lambda wrong, known, n: 1 - known, "expected"),
        (lambda wrong, known, n: (1 - wrong) / (1 - wrong + known), "expected"),
    ],
)
def test_other_wrong_answers_get_a_reason(answer, words):
    verdict = CHECK(answer)
    assert not verdict.passed
    assert words in verdict.message


def test_by_hand():
    """Three values: 1/4 · 0.8 for the context's, 1/2 · 0.1 and 1/4 · 0.1 for the others."""
    assert exercises.context_is_true(0.2, 0.5, 3) == pytest.approx(0.2 / 0.275)


@pytest.mark.parametrize(("wrong", "n"), [(0.2, 3), (0.5, 7), (0.1, 32)])
def test_memory_and_context_are_equal_where_the_remark_says(wrong, n):
    known = 1 - wrong
    context = exercises.context_is_true(wrong, known, n)
    other = (1 - known) / (n - 1)
    of_memory = known * wrong / (n - 1)
    assert context * (of_memory / (other * (1 - wrong))) == pytest.approx(context)


def test_it_is_what_the_section_compares_with():
    for wrong, known in ((0.2, 0.9), (0.5, 0.1), (0.0, 0.99)):
        wanted = exercises.context_is_true(wrong, known, len(TOWNS))
        found = trust(wrong, torch.tensor([known], dtype=torch.double))
        assert found.item() == pytest.approx(wanted)
