"""Whatever a reader hands over, a check answers with a verdict of one line."""

import numpy as np
import pytest
import torch
from torch import nn

from gates2heads.book.ch05 import answers, exercises
from gates2heads.book.ch05 import further_exercises as further
from gates2heads.grading.diagnosis import FunctionCheck
from gates2heads.grading.verdict import NotYetError, check


class SulkyError(Exception):
    def __str__(self):
        raise RuntimeError


class Odd:
    def __array__(self, *given, **options):
        raise RuntimeError

    def __repr__(self):
        return "one\ntwo"


def raises(error):
    def function(*given):
        raise error

    return function


def recurse(*given):
    return recurse(*given)


def spoil(*given):
    """Change every argument in place, and return nonsense of the right kind."""
    for one in given:
        if isinstance(one, torch.Tensor):
            one.zero_()
    return given[0]


def print_much(*given):
    print("here\n" * 3)
    return torch.zeros(5)


FUNCTIONS = [
    *map(raises, (ValueError("a\nb"), SulkyError(), SystemExit(3), MemoryError(), StopIteration())),
    raises(RuntimeError("x" * 10_000)),
    *(lambda *given, value=value: value for value in (
        None, ..., "text", b"a", 3, 10**400, object(), Odd(), [1, "a"], [[1], [2, 3]], {}, set(),
        np.array(["a"]), np.array([object()]), 2j, torch.zeros(2, 3, 5, 7), torch.zeros(0),
        torch.tensor(torch.nan), torch.tensor(2j), torch.eye(3).to_sparse(), torch.zeros(2).bool(),
        torch.zeros(2, device="meta"), torch.full((5,), torch.inf), torch.zeros(1, 1),
        (None, None), ("a", Odd()), (torch.zeros(7, 3), torch.zeros(5)), lambda: 3, NotYetError,
    )),
    recurse, spoil, print_much, lambda: 3, lambda given: given, lambda *given: given[99],
    nn.Linear(3, 5), nn.Linear, 3, None, "pool", torch.zeros(3), [], iter([]),
]  # fmt: skip
OF_FUNCTIONS = [
    thing
    for thing in (vars(exercises) | vars(further)).values()
    if isinstance(thing, FunctionCheck)
]
OF_ANSWERS = [answers.check_fault, answers.check_same, answers.check_gradient]
ALL = [*OF_FUNCTIONS, *OF_ANSWERS, further.check_left_out]


@pytest.mark.parametrize("checker", [*OF_FUNCTIONS, *OF_ANSWERS])
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_a_verdict_is_one_line_and_no_nonsense_passes(checker, number):
    before = torch.get_rng_state()
    verdict = checker(FUNCTIONS[number])
    assert verdict.passed is False
    assert len(str(verdict).splitlines()) == 1
    assert len(str(verdict)) < 500
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("given", [(), (3, 4), (None,) * 9])
@pytest.mark.parametrize("checker", [*OF_ANSWERS, further.check_left_out])
def test_too_few_or_too_many_answers_get_a_verdict(checker, given):
    assert checker(*given).passed is False
    assert checker(*given, other=3).passed is False


@pytest.mark.parametrize("reported", [None, "half", torch.nan, 10**400, [], object(), 55, "0.5x"])
def test_a_report_that_is_no_share_is_refused(reported):
    """NaN too, which no comparison would find wrong."""
    verdict = further.check_left_out(None, None, None, "es", reported)
    assert "Report the exact match that you measured, as a fraction." in verdict.message


@pytest.mark.parametrize("locale", [None, 3, [], {}, torch.zeros(3), np.zeros(2)])
def test_a_language_that_is_none_is_refused(locale):
    verdict = further.check_left_out(None, None, None, locale, 0.5)
    assert "locale should be one of" in verdict.message


def test_a_title_is_a_text():
    for wrong in (None, 3, object(), len):
        with pytest.raises(TypeError, match="title must"):
            check(wrong)


def test_a_verdict_can_be_asked_for_by_name():
    assert answers.check_fault(letter="d").passed
    assert "not tried yet" in answers.check_fault(letter=...).message
