"""Two answers that differ are never told by the same digits."""

import math
import re

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from gates2heads.grading.comparison import difference, same

NUMBERS = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("answer", "wanted", "said"),
    [
        (7, 5, "expected 5, got 7"),
        (torch.tensor([0.5, 2.0]), torch.tensor([0.5, 3.0]), "expected [0.5, 3], got [0.5, 2]"),
        (torch.arange(6.0), torch.zeros(6), "expected [0, 0, 0, 0, …], got [0, 1, 2, 3, …]"),
        (torch.ones(2, 3), torch.ones(2, 3).index_put((torch.tensor(1), torch.tensor(2)),
         torch.tensor(2.0)), "in row 1, counted from 0, expected [1, 1, 2], got"),
        (torch.ones(3), torch.ones(2), "a tensor of shape (2,), got a tensor of shape (3,)"),
        (torch.ones(1), 1.0, "expected a single number, got a tensor of shape (1,)"),
        ([1.0, 2.0], torch.ones(2), "expected [1, 1], got [1, 2]"),
        ("one", 1.0, "expected a number, got 'one'"),
        ([[1], [2, 3]], torch.ones(2), "expected a tensor of shape (2,), got [[1], [2, 3]]"),
        (None, 1.0, "expected a number, got None"),
        (math.nan, 1.0, "expected 1, got NaN"),
        ("b", "a", "expected 'a', got 'b'"),
        (1, "1", "expected '1', got 1"),
        (1.0001, 1.0, "expected 1, got 1.0001"),
        (torch.tensor(True), False, "expected 0, got 1"),
        (torch.eye(2), torch.eye(2) > 0, "expected True and False, got numbers of torch"),
        (torch.eye(2).to_sparse(), torch.ones(2, 2), "row 0, counted from 0, expected [1, 1]"),
        (torch.ones(2, device="meta"), torch.ones(2), "expected a tensor of shape (2,), got"),
        (1 + 5j, 1.0, "expected a number, got (1+5j)"),
        (torch.ones(2) + 5j, torch.ones(2), "got a torch.complex64 tensor of shape (2,)"),
    ],
)  # fmt: skip
def test_by_hand(answer, wanted, said):
    assert said in difference(answer, wanted)
    assert not same(answer, wanted)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (5, 5.0),
        (torch.tensor(5.0, requires_grad=True), 5),
        ([1, 2], torch.tensor([1.0, 2.0])),
        (1 + 1e-7, 1.0),
        (1e9 + 1, 1e9),
        ("a", "a"),
        (["a", "b"], ["a", "b"]),
        (torch.eye(3).to_sparse(), torch.eye(3)),
        (math.inf, math.inf),
    ],
)
def test_what_agrees(answer, wanted):
    assert difference(answer, wanted) == ""


@given(NUMBERS, st.floats(-1e-3, 1e-3), st.integers(0, 7))
def test_no_two_equal_numbers_are_shown(number, change, place):
    wanted = torch.full((8,), number, dtype=torch.float64)
    answer = wanted.clone()
    answer[place] += change * max(1.0, abs(number))  # a large number hides a small change
    said = difference(answer, wanted)
    assume(said)
    right, yours = re.fullmatch(r".*expected (.*), got (.*)", said).groups()
    assert right != yours
    assert eval(right.strip("…[] ").rstrip(", ")) != eval(yours.strip("…[] ").rstrip(", "))
