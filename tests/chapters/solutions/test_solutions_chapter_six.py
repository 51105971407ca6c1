"""The folded solutions of chapter 6, taken from both pages and run against their checks."""

import pytest
import torch

from gates2heads.book.ch06 import exercises, faulty, further_exercises
from tests.chapters.solutions.test_solutions import solutions

CORE, FURTHER = "06_self_attention.ipynb", "06_self_attention_further.ipynb"
FOUND = solutions(CORE) | solutions(FURTHER)
CHECKS = {
    "6.1": ("weights_of_the_third", exercises.check_by_hand),
    "6.2": ("attend_to_itself", exercises.check_attend),
    "6.3": ("split", exercises.check_split),
    "6.4": ("encoding", exercises.check_encoding),
    "6.6": ("diagnosis", faulty.check_fault),
    "6.7": ("angles", further_exercises.check_angles),
    "6.8": ("alibi_weights", further_exercises.check_alibi),
    "6.9": ("window_mask", further_exercises.check_window),
}


def test_every_exercise_has_a_solution():
    assert list(FOUND) == [f"6.{number}" for number in range(1, 10)]


@pytest.mark.parametrize("number", CHECKS)
def test_a_solution_passes(number):
    name, check = CHECKS[number]
    names = {"torch": torch}
    exec(FOUND[number], names)
    verdict = check(names[name])
    assert verdict.passed, verdict.message
