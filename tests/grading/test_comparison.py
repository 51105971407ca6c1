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
        (7, 5, "the answer is 5, yours is 7"),
        (torch.tensor([0.5, 2.0]), torch.tensor([0.5, 3.0]), "is [0.5, 3], yours is [0.5, 2]"),
        (torch.arange(6.0), torch.zeros(6), "is [0, 0, 0, 0, …], yours is [0, 1, 2, 3, …]"),
        (torch.ones(2, 3), torch.ones(2, 3).index_put((torch.tensor(1), torch.tensor(2)),
         torch.tensor(2.0)), "in row 1, counted from 0, the answer is [1, 1, 2], yours is"),
        (torch.ones(3), torch.ones(2), "should be of shape (2,), yours is of shape (3,)"),
        (torch.ones(1), 1.0, "should be a single number, yours is of shape (1,)"),
        ([1.0, 2.0], torch.ones(2), "the answer is [1, 1], yours is [1, 2]"),
        ("one", 1.0, "the answer should be a number, yours is 'one'"),
        ([[1], [2, 3]], torch.ones(2), "should be a tensor of shape (2,), yours is [[1], [2, 3]]"),
        (None, 1.0, "the answer should be a number, yours is None"),
        (math.nan, 1.0, "the answer is 1, yours holds NaN"),
        ("b", "a", "the answer is 'a', yours is 'b'"),
        (1, "1", "the answer is '1', yours is 1"),
        (1.0001, 1.0, "the answer is 1, yours is 1.0001"),
        (torch.tensor(True), False, "the answer is 0, yours is 1"),
        (torch.eye(2), torch.eye(2) > 0, "should hold True and False, yours has numbers of torch"),
        (torch.eye(2).to_sparse(), torch.ones(2, 2), "row 0, counted from 0, the answer is [1, 1]"),
        (torch.ones(2, device="meta"), torch.ones(2), "should be a tensor of shape (2,), yours is"),
        (1 + 5j, 1.0, "the answer should be a number, yours is (1+5j)"),
        (torch.ones(2) + 5j, torch.ones(2), "yours is a torch.complex64 tensor of shape (2,)"),
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
    right, yours = re.fullmatch(r".*the answer is (.*), yours is (.*)", said).groups()
    assert right != yours
    assert eval(right.strip("…[] ").rstrip(", ")) != eval(yours.strip("…[] ").rstrip(", "))
