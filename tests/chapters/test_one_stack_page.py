"""Chapter 12: its printed solutions against their checks."""

import pytest
import torch

from gates2heads.book.ch12 import exercises, faulty
from tests.chapters.solutions.test_solutions import cell_of, solutions

PAGE = "12_one_stack.ipynb"
PRINTED = solutions(PAGE)
CHECKS = {
    "12.1": (("build_prefix_mask",), exercises.check_prefix_mask),
    "12.2": (("hidden", "parameters"), exercises.check_equal_size),
    "12.3": (("repeat_groups",), exercises.check_repeat_groups),
    "12.4": (("bytes_per_token", "intensity", "sequences"), exercises.check_cache),
    "12.5": (("min_p",), exercises.check_min_p),
    "12.6": (("extend_cache",), faulty.check_repair),
}


def solved(number):
    """What a printed solution defines, after the function of the page that it calls."""
    names = {"torch": torch}
    exec(cell_of(PAGE, "def rotate("), names)
    exec(PRINTED[number], names)
    return names


def test_every_exercise_has_a_solution_and_a_check():
    assert PRINTED.keys() == CHECKS.keys()


@pytest.mark.parametrize("number", CHECKS)
def test_the_printed_solution_passes_its_check(number):
    names, checker = CHECKS[number]
    space = solved(number)
    verdict = checker(*(space[name] for name in names))
    assert verdict.passed, verdict.message


def test_the_printed_diagnosis_is_right():
    assert faulty.check_fault(solved("12.6")["diagnosis"]).passed


def test_the_rotation_of_the_page_is_that_of_the_library():
    vectors = torch.randn(2, 3, 5, 8)
    rotate = solved("12.6")["rotate"]
    for start in (0, 7):
        assert torch.allclose(
            rotate(vectors, start), faulty.rotate(vectors, start=start), atol=1e-5
        )
