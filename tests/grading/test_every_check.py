"""What holds of every check of every chapter: it knows its solution, its stub, and its mistakes."""

import importlib
import re
from pathlib import Path

import pytest

from gates2heads import book
from gates2heads.grading.comparison import same
from gates2heads.grading.diagnosis import FunctionCheck

BOOK = Path(book.__file__).parent
MODULES = [
    importlib.import_module(f"gates2heads.book.{path.parent.name}.{path.stem}")
    for path in sorted(BOOK.glob("ch*/*.py"))
]
CHECKS = {
    f"{module.__name__.removeprefix('gates2heads.book.')}.{name}": thing
    for module in MODULES
    for name, thing in vars(module).items()
    if isinstance(thing, FunctionCheck)
}
MISTAKES = [(name, words) for name, one in CHECKS.items() for words in one.mistakes]


def test_there_are_checks():
    assert len(CHECKS) >= 4


@pytest.mark.parametrize("name", CHECKS)
def test_the_solution_passes_and_mistakes_are_known(name):
    checker = CHECKS[name]
    verdict = checker(checker.solution)
    assert verdict.passed, verdict.message
    assert checker.remark
    assert len(checker.mistakes) >= 3


@pytest.mark.parametrize("name", CHECKS)
def test_a_stub_is_told_kindly(name):
    def stub(*arguments):
        """As on the page."""

    for empty in (..., stub, lambda *arguments: ...):
        assert "not tried yet" in CHECKS[name](empty).message


@pytest.mark.parametrize("name", CHECKS)
def test_what_a_case_wants_is_what_the_solution_gives(name):
    checker = CHECKS[name]
    for case in checker.cases():
        if case.wanted is not None:
            assert same(checker.solution(*case.arguments), case.wanted), case.name


@pytest.mark.parametrize(("name", "words"), MISTAKES)
def test_every_mistake_is_called_by_its_name(name, words):
    checker = CHECKS[name]
    verdict = checker(checker.mistakes[words])
    assert not verdict.passed
    assert verdict.message.endswith(f"It looks as if {words}."), verdict.message
    numbers = re.search(r"expected (.*), got (.*?)\. It", verdict.message)
    assert numbers is None or numbers[1] != numbers[2]


@pytest.mark.parametrize("name", CHECKS)
def test_an_answer_that_makes_no_sense_gets_a_sentence(name):
    answers = (None, 3, "text", object(), print, lambda: 1, lambda *a: object(), lambda *a: 1 / 0)
    for answer in answers:
        verdict = CHECKS[name](answer)
        assert not verdict.passed
        assert "\n" not in verdict.message
