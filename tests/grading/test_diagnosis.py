"""A check names the famous mistake, and whatever a reader writes, it answers with a sentence."""

import re
from collections import deque

import numpy as np
import pytest
import torch

from gates2heads.grading.diagnosis import Case, FunctionCheck


def centre(x, axis):
    return x - x.mean(axis, keepdim=True)


def cases():
    x = torch.arange(6.0).reshape(2, 3)
    return [
        Case("a (2, 3) tensor", (x, 1)),
        Case("a column of twos", (torch.full((3, 1), 2.0), 0), torch.zeros(3, 1)),
    ]


CHECK = FunctionCheck(
    title="Exercise 0.1",
    solution=centre,
    cases=cases,
    mistakes={
        "the wrong axis was averaged": lambda x, axis: centre(x, 1 - axis),
        "a sum was taken off and not the mean": lambda x, axis: x - x.sum(axis, keepdim=True),
        "this raises": lambda x, axis: x[99],
        "the spread was divided out": lambda x, axis: (
            centre(x, axis) / x.std(axis, keepdim=True, correction=0)
        ),
    },
    remark="Well centred.",
)
BOTH = FunctionCheck(
    title="Exercise 0.2",
    solution=lambda x: (x.min(), x.max()),
    cases=lambda: [Case("three numbers", (torch.tensor([1.0, 5.0, 3.0]),))],
    mistakes={"the two are swapped": lambda x: (x.max(), x.min())},
    parts=("the least", "the largest"),
)


def stub(x, axis):
    """Take the mean off."""


def half_written(x, axis):
    mean = ...
    return x - mean.clone()


def dotted(x, axis):
    if axis > 7:
        return x
    return ...


def raising(x, axis):
    rows = x.tolist()
    return rows[0]["mean"]


def not_implemented(x, axis):
    raise NotImplementedError


def in_place(x, axis):
    x -= x.mean(axis, keepdim=True)
    return x


def without_return(x, axis):
    centre(x, axis)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (..., "not tried yet. Put your answer in place of `...`"),
        (stub, "not tried yet. Fill in the body of `stub`"),
        (not_implemented, "not tried yet. Fill in the body"),
        (half_written, "not tried yet. There is still a `...`: .* (line 3 of `half_written`)"),
        (dotted, "not tried yet. Your function still returns `...`"),
        (without_return, "not yet. Your function returns nothing: is a `return` missing?"),
        (raising, "For a (2, 3) tensor your code raised TypeError: .* (line 3 of `raising`)."),
        (lambda x, axis: centre(x, 1 - axis), "It looks as if the wrong axis was averaged."),
        (lambda x, axis: x - x.sum(axis, keepdim=True), "It looks as if a sum was taken off"),
        (lambda x, axis: centre(x, axis) / x.std(axis, keepdim=True, correction=0),
         "It looks as if the spread was divided out."),
        (in_place, "Your function changes its argument `x`: work on a copy."),
        (lambda x: x, "Your function should take 2 arguments: x, axis."),
        (3, "Your answer should be a function, and is 3."),
        (lambda x, axis: "text", "expected a tensor of shape (2, 3), got 'text'."),
        (lambda x, axis: [[1], [2, 3]], "got [[1], [2, 3]]."),
        (lambda x, axis: centre(x, axis)[0], "of shape (2, 3), got a tensor of shape (3,)."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(answer, said):
    verdict = CHECK(answer)
    assert not verdict
    pattern = re.escape(said).replace(r"\.\*", ".*")
    assert re.search(pattern, verdict.message), verdict.message
    assert "\n" not in verdict.message
    assert verdict.message.startswith("Exercise 0.1: not ")


def test_the_solution_passes_in_other_words_too():
    for answer in (centre, lambda x, axis: centre(x.double(), axis).tolist()):
        assert repr(CHECK(answer)) == "✔ Exercise 0.1: right. Well centred."


@pytest.mark.parametrize("queue", [deque([1, 2]), [1, 2], np.array([1, 2]), {1: [2]}])
def test_a_right_answer_may_use_up_its_argument(queue):
    def emptied(queue):
        size = len(queue)
        if isinstance(queue, np.ndarray):
            queue[:] = 0
        else:
            queue.clear()
        return size

    check = FunctionCheck(
        title="Exercise 0.3", solution=emptied, cases=lambda: [Case("a queue", (queue,))] * 2
    )
    assert check(emptied)
    assert not check(lambda queue: len(queue) + 1)


def test_a_mistake_is_named_only_where_every_case_bears_it_out():
    def nearly(x, axis):
        return centre(x, 1 - axis) if axis == 1 else x

    message = CHECK(nearly).message
    assert "expected [" in message
    assert "It looks as if" not in message


def test_of_several_results_the_wrong_one_is_named():
    assert BOTH(lambda x: (x.min(), x.max()))
    assert "2 results: the least and the largest" in BOTH(lambda x: x).message
    swapped = BOTH(lambda x: [x.max(), x.min()]).message
    assert "three numbers: for the least, expected 1, got 5" in swapped
    assert swapped.endswith("It looks as if the two are swapped.")


def test_who_interrupts_is_not_held_up():
    def endless(x, axis):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CHECK(endless)


SQUARED = FunctionCheck(
    title="Exercise 0.4",
    solution=lambda x: x.clamp_min(0).square(),
    cases=lambda: [
        Case("two rows", (torch.tensor([[1.0, 2.0], [0.0, 3.0]]),), gradient=True),
    ],
    mistakes={
        "the square root is taken of a square, and its slope at 0 is NaN": (
            lambda x: x.clamp_min(0) * x.square().sqrt()
        ),
    },
)


def test_a_right_answer_with_a_wrong_gradient_is_not_right_yet():
    assert SQUARED(lambda x: x * x * (x > 0))
    holed = SQUARED(lambda x: x.clamp_min(0) * x.square().sqrt()).message
    assert "the answer is right, but its gradient with respect to `x` is not: in row 1" in holed
    assert "got NaN" in holed
    assert "It looks as if the square root is taken" in holed
    assert "no gradient reaches `x`" in SQUARED(lambda x: x.detach().square()).message


def test_a_right_function_may_use_up_its_lists():
    """Each call gets lists of its own, the solution's call after the reader's too."""
    words = [["a", "cat"], ["sat"]]
    check = FunctionCheck(
        title="Exercise 0.4",
        solution=lambda lists, counts: len(lists[0]) + len(lists) + sum(counts.values()),
        cases=lambda: [Case("two lists", (words, {"a": 1})), Case("the same", (words, {"a": 1}))],
    )

    def emptying(lists, counts):
        total = sum(counts.pop(key) for key in list(counts))
        total += len(lists)
        while lists[0]:
            total += bool(lists[0].pop())
        lists.clear()
        return total

    assert check(emptying)
    assert words == [["a", "cat"], ["sat"]]
