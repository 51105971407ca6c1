"""Chapter 13: its printed solutions against their checks, and its fit beside the library's."""

import pytest
import torch

from gates2heads.book.ch13 import exercises, faulty
from gates2heads.metrics.scaling_laws import ScalingLaw, fit_scaling_law
from tests.chapters.solutions.test_solutions import cell_of, solutions

PAGE = "13_size_and_context.ipynb"
PRINTED = solutions(PAGE)
CHECKS = {
    "13.1": (("operations", "tokens"), exercises.check_compute),
    "13.2": (("fit_power_law",), exercises.check_power_law),
    "13.3": (("prefix_matching",), exercises.check_prefix_matching),
    "13.4": (("copying_share",), exercises.check_copying_share),
    "13.5": (("context_is_true",), exercises.check_context_is_true),
    "13.6": (("split",), faulty.check_repair),
}


def solved(number):
    """What a printed solution defines."""
    names = {"torch": torch}
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
    assert faulty.check_fault(solved("13.6")["diagnosis"]).passed


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_of_the_page_is_that_of_the_library_on_its_grid(seed):
    space = {"torch": torch}
    exec(cell_of(PAGE, "def fit(").partition("truth =")[0], space)
    draw = torch.Generator().manual_seed(seed)
    sizes = torch.tensor([1e5, 3e5, 1e6, 2e6], dtype=torch.float64)
    parameters, tokens = torch.cartesian_prod(sizes, 3 * sizes).T
    noise = torch.randn(len(tokens), generator=draw, dtype=torch.float64)
    losses = ScalingLaw(1.5, 80, 0.35, 300, 0.3).loss(parameters, tokens) * (1 + 0.002 * noise)
    error, _, alpha, beta = space["fit"](parameters, tokens, losses)
    law = fit_scaling_law(parameters, tokens, losses)
    finer = (law.loss(parameters, tokens) / losses - 1).square().sum()
    assert finer <= error
    assert law.parameter_exponent == pytest.approx(alpha.item(), abs=0.15)
    assert law.token_exponent == pytest.approx(beta.item(), abs=0.15)
