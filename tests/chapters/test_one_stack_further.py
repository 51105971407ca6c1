"""The Further page of chapter 12: its printed solutions, and what its code says beyond the page."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch12 import further_exercises as further
from gates2heads.layers.attention.heads import scaled_dot
from tests.chapters.solutions.test_solutions import cell_of, named_in, solutions

PAGE = "12_one_stack_further.ipynb"
PRINTED = solutions(PAGE)
CHECKS = {"12.7": ("merge", further.check_merge), "12.8": ("balance", further.check_balance)}


def test_every_exercise_has_a_solution_and_a_check():
    assert PRINTED.keys() == CHECKS.keys()


@pytest.mark.parametrize("number", CHECKS)
def test_the_printed_solution_passes_its_check(number):
    name, checker = CHECKS[number]
    verdict = checker(named_in(PRINTED[number], assigned=False)[name])
    assert verdict.passed, verdict.message


def attend_in_blocks(*arguments):
    """The function of section B."""
    space = {"torch": torch, "math": math}
    exec(cell_of(PAGE, "def attend_in_blocks(").partition("torch.manual_seed")[0], space)
    return space["attend_in_blocks"](*arguments)


@given(st.integers(1, 7), st.integers(1, 13), st.integers(1, 17), st.integers(0, 99))
def test_attention_in_blocks_is_attention(queries, keys, block, seed):
    draw = torch.Generator().manual_seed(seed)
    query, key, value = (
        30 * torch.randn(size, generator=draw) for size in ((queries, 5), (keys, 5), (keys, 3))
    )
    wanted, _ = scaled_dot(query, key, value)
    torch.testing.assert_close(
        attend_in_blocks(query, key, value, block), wanted, rtol=1e-4, atol=1e-3
    )


def test_the_first_block_needs_no_special_case():
    """One query, two keys with scores 0 and ln 3 in blocks of one: weights 1/4 and 3/4."""
    query = torch.tensor([[1.0]])
    key = torch.tensor([[0.0], [math.log(3)]])
    found = attend_in_blocks(query, key, torch.tensor([[8.0], [4.0]]), 1)
    assert found.item() == pytest.approx(5)
