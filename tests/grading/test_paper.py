"""Answers found on paper: how they are read, and which verdict they get."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from gates2heads.grading.paper import (
    ChoiceCheck,
    Numbers,
    NumbersCheck,
    between,
    bug_check,
    described,
    near,
    slips,
    sums_to,
)

FAULTS = {"a": "the mask is dropped", "b": "an axis of V is swapped"}
BUG = bug_check("Exercise 0.1", FAULTS, {"a": "Then it would show."}, ", as seen.")
PAIR = ChoiceCheck(
    title="Exercise 0.2",
    choices={"dot": "", "scaled dot": "", "general": ""},
    right=frozenset({"dot", "general"}),
    against={
        frozenset({"dot", "scaled dot"}): "They differ by √K.",
        frozenset({"general", "scaled dot"}): "They differ by G.",
    },
    remark="With G = I.",
)
TWO = NumbersCheck(
    title="Exercise 0.3",
    questions=(
        Numbers(
            name="share",
            right=(near(0.5, within=0.01), near(50, within=1)),
            slips=(
                *slips({2: "The inverse.", 0: "Nothing."}, within=0.1),
                between(1, math.inf, "At most 1."),
            ),
            otherwise="Not right.",
        ),
        Numbers(
            name="weights",
            right=(near((0.25, 0.75), within=0.01),),
            slips=(
                near((0.75, 0.25), "The wrong order.", within=0.01),
                sums_to(0.99, 1.01, "They sum to 1."),
            ),
            otherwise="They do not sum to 1.",
            ask="Give two weights, such as (0.5, 0.5)",
        ),
    ),
    remark="Well.",
)
RIGHT = (0.25, 0.75)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ((0.5, RIGHT), "right. Well."),
        ((50, RIGHT), "right. Well."),
        ((Fraction(1, 2), [Fraction(1, 4), 0.75]), "right. Well."),
        ((torch.tensor(0.5), torch.tensor([[0.25], [0.75]])), "right. Well."),
        ((np.float32(0.5), np.array(RIGHT)), "right. Well."),
        ((2.05, RIGHT), "not yet. The inverse."),
        ((3, RIGHT), "not yet. At most 1."),
        ((0, (1, 0)), "not yet. Nothing."),
        ((0.7, RIGHT), "not yet. Not right."),
        ((0.5, (0.75, 0.25)), "not yet. The wrong order."),
        ((0.5, (0.5, 0.5)), "not yet. They sum to 1."),
        ((0.5, (1, 3)), "not yet. They do not sum to 1."),
        (("0.5", RIGHT), "not yet. The answer should be a number, got '0.5'."),
        ((True, RIGHT), "not yet. The answer should be a number, got True."),
        ((math.nan, RIGHT), "not yet. The answer should be a number, got nan."),
        ((0.5, "01"), "not yet. Give two weights, such as (0.5, 0.5), got '01'."),
        ((0.5, (1, 2, 3)), "not yet. Give two weights, such as (0.5, 0.5), got (1, 2, 3)."),
        ((0.5, ...), "not tried yet. Put your answer in place of `...`, and run the cell again."),
        ((0.5,), "not yet. The check takes the answers to: share, weights."),
        ((0.5, RIGHT, 3), "not yet. The check takes the answers to: share, weights."),
    ],
)
def test_numbers_get_their_verdict(answers, message):
    assert TWO(*answers).message == f"Exercise 0.3: {message}"


def test_numbers_may_be_given_by_name():
    assert TWO(share=0.5, weights=RIGHT)
    assert TWO(0.5, weights=RIGHT)
    assert not TWO(0.5, others=RIGHT)
    assert not TWO(0.5, RIGHT, share=0.5)


@pytest.mark.parametrize(
    ("letter", "message"),
    [
        (" (B). ", "right. An axis of V is swapped, as seen."),
        ("A", "not yet. Then it would show."),
        ("c", "not yet. Answer with one of the letters a, b, got 'c'."),
        (None, "not yet. Answer with one of the letters a, b, got None."),
    ],
)
def test_a_bug_is_chosen_by_its_letter(letter, message):
    assert BUG(letter).message == f"Exercise 0.1: {message}"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("dot", "General"), "right. With G = I."),
        ("general and dot", "right. With G = I."),
        (["scaled_dot", "dot"], "not yet. They differ by √K."),
        ("scaled-dot, general", "not yet. They differ by G."),
        ("dot", "not yet. Answer with two names, such as dot, scaled dot."),
        (
            ("dot", "dot"),
            "not yet. Answer with two of dot, scaled dot, general, got ('dot', 'dot').",
        ),
    ],
)
def test_several_names_are_chosen_in_any_order(names, message):
    assert PAIR(names).message == f"Exercise 0.2: {message}"


def test_exactly_one_bug_is_the_true_one():
    with pytest.raises(ValueError, match="must leave one bug of"):
        bug_check("Exercise 0.1", FAULTS, {})
    with pytest.raises(ValueError, match="must leave one bug of"):
        bug_check("Exercise 0.1", FAULTS, {"c": "Unknown."})


def test_a_description_holds_what_json_can():
    share, weights = described(TWO)["questions"]
    assert share["slips"][-1] == {
        "low": [1],
        "high": [None],
        "words": "At most 1.",
        "of_sum": False,
    }
    assert weights["size"] == 2
    assert weights["slips"][-1]["of_sum"]
    assert described(PAIR)["right"] == ["dot", "general"]
    assert described(BUG)["choices"][0] == {"name": "a", "words": "the mask is dropped"}
