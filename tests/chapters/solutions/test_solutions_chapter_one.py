"""The folded solutions of chapter 1, taken from the page and run against their checks."""

import math
import re

import pytest
import torch

from gates2heads.book.ch01 import exercises, faulty
from tests.chapters.solutions.test_solutions import solutions, verdict_on

PAGES = ("01_recurrent_gates.ipynb", "01_recurrent_gates_further.ipynb")
SOLUTIONS = {number: code for page in PAGES for number, code in solutions(page).items()}
ANSWERS = {
    "1.1": ("steps", exercises.check_half_life),
    "1.2": ("jacobian", exercises.check_jacobian),
    "1.3": ("lstm", exercises.check_lstm),
    "1.4": ("bias", exercises.check_forget_bias),
    "1.5": ("diagnosis", faulty.check_fault),
    "1.6": ("parameter_count", exercises.check_parameter_count),
    "1.7": ("convert_update_gate", exercises.check_convert_update_gate),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert SOLUTIONS.keys() == ANSWERS.keys()


@pytest.mark.parametrize("number", ANSWERS)
def test_the_printed_solution_passes_its_check(number):
    answer, checker = ANSWERS[number]
    verdict = verdict_on(SOLUTIONS[number], answer, checker, {"torch": torch})
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        ("1.2", [1.0, 0.0, 0.0, 0.19]),
        ("1.3", [0.25 * math.tanh(3.25), 3.25]),
        ("1.6", [440]),
        ("1.7", [1.0, -2.0, 3.0]),
    ],
)
def test_a_solution_shows_its_numbers(number, printed, capsys):
    exec(SOLUTIONS[number], {"torch": torch})
    shown = re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", capsys.readouterr().out)
    assert [float(one) for one in shown] == pytest.approx(printed, abs=2e-3)
