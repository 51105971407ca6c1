"""The checks of chapter 1 that no function answers, and its planted fault."""

import math

import pytest
import torch

from gates2heads.book.ch01.exercises import (
    FORGET_BIAS,
    check_forget_bias,
    check_half_life,
    check_lstm,
)
from gates2heads.book.ch01.faulty import FAULTS, FaultyLSTM, check_fault, memory
from gates2heads.book.ch01.recall_task import recall_loss, texts
from gates2heads.layers.recurrent import lstm_step


def test_the_half_life_is_what_powers_say():
    assert 0.99**69 < 0.5 < 0.99**68
    assert check_half_life(69).passed
    assert check_half_life(torch.tensor(69)).passed


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (68, "still slightly more than one half"),
        (50, "of the initial value"),
        (693, "0.999"),
        (68.9676, "round up"),
        (12, "too few: more than half is left"),
        (500, "That is too many"),
        ("many", "should be a number, got 'many'"),
        (math.nan, "should be a number, got nan"),
        (torch.ones(3), "should be a number"),
        (None, "should be a number"),
        (..., "not tried yet"),
    ],
)
def test_other_half_lives_get_a_sentence(answer, told):
    verdict = check_half_life(answer)
    assert not verdict.passed
    assert told in verdict.message


def test_the_bias_leaves_half_of_the_cell():
    assert (1 / (1 + math.exp(-FORGET_BIAS))) ** 100 == pytest.approx(0.5)
    for answer in (FORGET_BIAS, 4.97, torch.tensor(4.97)):
        assert check_forget_bias(answer).passed


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (0.9931, "That is the gate f itself"),
        (-4.97, "The sign is wrong"),
        (0, "after a single step"),
        (0.00693, "That is −ln f"),
        (2.158, "natural logarithm"),
        (math.log(100), "leaves 1/e"),
        (5.05, "That is close"),
        (2, "of the cell state is left after 100 steps"),
        (-1e9, "of the cell state is left"),
        ("5", "should be a number"),
        (math.inf, "should be a number, got inf"),
        (..., "not tried yet"),
    ],
)
def test_other_biases_get_a_sentence(answer, told):
    verdict = check_forget_bias(answer)
    assert not verdict.passed
    assert told in verdict.message


def test_the_solution_of_the_step_is_the_librarys():
    sums, cell = torch.randn(4, 5), torch.randn(5)
    ours = check_lstm.solution(sums, cell)
    hidden, after, _ = lstm_step(
        sums.reshape(1, 20), torch.zeros(1, 5), cell[None], torch.zeros(20, 5)
    )
    torch.testing.assert_close(ours[0], hidden[0])
    torch.testing.assert_close(ours[1], after[0])


def test_the_step_by_hand():
    third = math.log(3)  # σ(ln 3) = ¾, σ(−ln 3) = ¼, tanh(½ ln 3) = ½
    sums = torch.tensor([[0.0], [third], [third / 2], [-third]])
    hidden, cell = check_lstm.solution(sums, torch.tensor([4.0]))
    assert cell.item() == pytest.approx(0.75 * 4 + 0.5 * 0.5)
    assert hidden.item() == pytest.approx(0.25 * math.tanh(3.25))


def test_the_fault_is_in_the_gradient_alone():
    torch.manual_seed(3)
    sound = memory()
    torch.manual_seed(3)
    faulty = memory(faulty=True)
    assert isinstance(faulty.recurrent, FaultyLSTM)
    batch = next(texts(5, 7, shortest=7, seed=1))
    with torch.no_grad():
        assert torch.equal(sound(batch), faulty(batch))
    reached = []
    for model in (sound, faulty):
        vectors = model.vectors(batch).requires_grad_()
        model.recurrent(vectors)[0][:, -1].sum().backward()
        reached.append(vectors.grad.abs().sum((0, 2)))
    assert (reached[0] > 0).all()
    assert (reached[1] > 0).tolist() == [False] * 7 + [True]
    assert recall_loss(faulty, batch).requires_grad


def test_the_fault_is_found_by_its_letter():
    assert check_fault("b").passed
    assert check_fault(" (B). ").passed
    for letter in FAULTS.keys() - {"b"}:
        assert "Then" in check_fault(letter).message
    for answer in ("f", 3, None):
        assert "one of the letters a, b, c, d, e" in check_fault(answer).message
    assert "not tried" in check_fault(...).message
