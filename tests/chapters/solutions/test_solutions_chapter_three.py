"""Chapter 3: its printed solutions against their checks."""

import pytest

from gates2heads.book.ch03 import exercises, faulty
from tests.chapters.solutions.test_solutions import named_in, solutions

CORE, FURTHER = (f"03_sequence_probability{end}.ipynb" for end in ("", "_further"))
PRINTED = solutions(CORE) | solutions(FURTHER)
CHECKS = {
    "3.1": (("probability", "perplexity_"), exercises.check_by_hand),
    "3.2": (("add_k",), exercises.check_add_k),
    "3.3": (("kneser_ney",), exercises.check_kneser_ney),
    "3.4": (("my_perplexity",), exercises.check_perplexity),
    "3.5": (("merge",), exercises.check_merge),
    "3.6": (("diagnosis",), faulty.check_fault),
    "3.7": (("at_once",), exercises.check_at_once),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert PRINTED.keys() == CHECKS.keys()


@pytest.mark.parametrize("number", CHECKS)
def test_the_printed_solution_passes_its_check(number):
    names, checker = CHECKS[number]
    space = named_in(PRINTED[number], assigned=number in ("3.1", "3.6"))
    verdict = checker(*(space[name] for name in names))
    assert verdict.passed, verdict.message
