"""Chapter 8: its printed solutions against their checks, and what its diagram shows."""

import pytest

from gates2heads.book.ch08 import exercises, faulty
from gates2heads.figures.diagrams.scoring import step_of_a_beam
from tests.chapters.solutions.test_solutions import named_in, solutions

PRINTED = solutions("08_decoding.ipynb")
CHECKS = {
    "8.1": (("sequences", "candidates"), exercises.check_counts),
    "8.2": (("beam_step",), exercises.check_beam_step),
    "8.3": (("tie",), exercises.check_tie),
    "8.4": (("search_errors",), exercises.check_errors),
    "8.5": (("nucleus",), exercises.check_nucleus),
    "8.6": (("diagnosis",), faulty.check_fault),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert PRINTED.keys() == CHECKS.keys()


@pytest.mark.parametrize("number", CHECKS)
def test_the_printed_solution_passes_its_check(number):
    names, checker = CHECKS[number]
    space = named_in(PRINTED[number], assigned=number in ("8.1", "8.6"))
    verdict = checker(*(space[name] for name in names))
    assert verdict.passed, verdict.message


def test_the_diagram_names_what_flows():
    (axis,) = step_of_a_beam().axes
    said = {text.get_text() for text in axis.texts}
    assert {"the k most probable", "finished", "reorder", "<eos>"} <= said
