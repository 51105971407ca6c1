"""The folded solutions of chapter 4, taken from the page and run against their checks."""

import re

import pytest
import torch

from gates2heads.book.ch04 import exercises, faulty
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.layers.recurrent import GRUCell
from gates2heads.watching.forced_tokens import observe_forcing
from tests.chapters.solutions.test_solutions import cell_of, solutions, verdict_on

PAGE = "04_sequence_to_sequence.ipynb"
FURTHER = "04_sequence_to_sequence_further.ipynb"
SOLUTIONS = solutions(PAGE) | solutions(FURTHER)
ANSWERS = {
    "4.1": ("digits", exercises.check_digits),
    "4.2": ("greedy_decode", exercises.check_greedy_decode),
    "4.3": ("teacher_forcing_loss", exercises.check_teacher_forcing_loss),
    "4.4": ("share", exercises.check_whole),
    "4.5": ("diagnosis", faulty.check_fault),
    "4.6": ("field", exercises.check_field),
}


def test_every_exercise_has_a_solution_and_a_check():
    assert SOLUTIONS.keys() == ANSWERS.keys()


@pytest.mark.parametrize("number", ANSWERS)
def test_the_printed_solution_passes_its_check(number):
    answer, checker = ANSWERS[number]
    verdict = verdict_on(SOLUTIONS[number], answer, checker, {"torch": torch})
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("number", "printed"), [("4.3", [0.6931]), ("4.6", [3, 5, 7, 9, 11, 63])])
def test_a_solution_shows_its_numbers(number, printed, capsys):
    exec(SOLUTIONS[number], {"torch": torch})
    found = [float(one) for one in re.findall(r"-?\d+\.?\d*", capsys.readouterr().out)]
    assert found == pytest.approx(printed, abs=1e-4)


def test_the_loop_writes_the_date_with_the_cells_of_the_page(capsys):
    one = shipped("forced_teacher")
    names = {"torch": torch, "GRUCell": GRUCell, "observe_forcing": observe_forcing}
    names |= {"opening": one, "source": one.source, "target": one.target}
    kept = torch.is_grad_enabled()
    try:
        exec(cell_of(PAGE, "GRU cells with the trained parameters"), names)
        exec(cell_of(PAGE, "def encode("), names)
        exec(SOLUTIONS["4.2"], names)
    finally:
        torch.set_grad_enabled(kept)
    assert capsys.readouterr().out == "2001-09-23\n"
