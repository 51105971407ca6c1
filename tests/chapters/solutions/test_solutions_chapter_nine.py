"""The folded solutions of chapter 9, run against their checks; the test of a real pair."""

import math
import re
from collections import Counter

import nbformat
import numpy as np
import pytest
import torch

from gates2heads.book.ch09 import exercises
from gates2heads.book.ch09.faulty import check_fault
from gates2heads.book.written import read_written
from gates2heads.metrics.ngrams import ngrams
from tests.chapters.solutions.test_solutions import CHAPTERS, cell_of, solutions
from tools.notebooks.folding import source_of

PAGE = "09_evaluation.ipynb"
FOUND = solutions(PAGE)
CHECKS = {
    "9.2": ("clipped", exercises.check_clipped),
    "9.3": ("common", exercises.check_common),
    "9.4": ("permutation_p", exercises.check_permutation),
    "9.5": ("ppl", exercises.check_perplexity),
    "9.6": ("kappa", exercises.check_kappa),
    "9.7": ("diagnosis", check_fault),
}


def run(code, **names):
    space = {"math": math, "Counter": Counter, "ngrams": ngrams, "np": np, "torch": torch, **names}
    exec(code, space)
    return space


def test_every_exercise_has_a_solution():
    assert list(FOUND) == [f"9.{number}" for number in range(1, 8)]


@pytest.mark.parametrize("number", CHECKS)
def test_a_solution_passes(number):
    name, check = CHECKS[number]
    verdict = check(run(FOUND[number])[name])
    assert verdict.passed, verdict.message


def test_the_numbers_of_the_first_solution_pass():
    space = run(FOUND["9.1"])
    names = "unigram_precision", "bigram_precision", "penalty", "score"
    assert exercises.check_by_hand(*(space[name] for name in names)).passed


def test_the_solution_gives_the_p_value_that_the_page_prints():
    cells = [source_of(cell) for cell in _cells()]
    (statement,) = [one for one in cells if one.startswith("**Apply your function**")]
    (setup,) = re.findall(r"```python\n(.*?)```", statement, re.S)
    setup = setup.replace("10_000", "500").replace("permutation_p(", "found = permutation_p(")
    space = run(cell_of(PAGE, "def bleus(").partition("a, b =")[0])
    space["written"] = read_written("ch09/systems")
    exec(FOUND["9.4"] + setup, space)
    pair = (space["written"][f"first {part} heads off"].bleu for part in ("encoder", "decoder"))
    exec(cell_of(PAGE, "All permutations at once"), space)
    differences = space["permuted"](*pair, count=500)
    sums = np.stack([one.sum(0).numpy() for one in (space["one"], space["other"])])
    assert space["found"] == space["p_value"](differences, -np.diff(space["bleus"](sums))[0])
    assert 0.02 < space["found"] < 0.08


def _cells():
    return nbformat.read(CHAPTERS / PAGE, as_version=4).cells
