"""The recall task of chapter 1: what it asks, what its readers are, what they refuse."""

import math

import pytest
import torch

from gates2heads.book.ch01.recall_task import (
    LETTERS,
    SYMBOLS,
    Rememberer,
    recall_loss,
    recalled,
    texts,
)

CELLS = ("rnn", "gru", "lstm")


class Knowing(torch.nn.Module):
    """Looks up the first letter, or the last symbol, and is sure of it."""

    def __init__(self, place):
        super().__init__()
        self.place = place

    def forward(self, batch):
        return 50.0 * torch.nn.functional.one_hot(batch[:, self.place] % LETTERS, LETTERS).float()


def test_a_text_is_a_letter_and_then_noise():
    stream, lengths = texts(7, 5, shortest=2, seed=3), set()
    for _ in range(40):
        batch = next(stream)
        assert batch.shape[0] == 7
        assert (batch[:, 0] < LETTERS).all()
        assert ((batch[:, 1:] >= LETTERS) & (batch[:, 1:] < SYMBOLS)).all()
        lengths.add(batch.shape[1] - 1)
    assert lengths == {2, 3, 4, 5}


def test_letters_as_noise_are_told_apart_by_position_alone():
    stream = texts(9, 30, shortest=30, seed=3, letters_only=True)
    batch = torch.cat([next(stream) for _ in range(5)])
    assert batch.shape == (45, 31)
    assert sorted(batch.unique().tolist()) == list(range(LETTERS))
    assert len(set(batch[:, 1:].flatten().tolist())) == LETTERS


def test_the_task_by_hand():
    batch = torch.tensor([[3, 9, 11], [5, 15, 13], [0, 8, 8]])
    assert recalled(Knowing(0), batch) == 1
    assert recall_loss(Knowing(0), batch).item() == pytest.approx(0, abs=1e-6)
    # The last symbols are 11, 13 and 8, so 3, 5 and 0 above 8: here they tell the letter by luck.
    assert recalled(Knowing(-1), batch) == 1
    assert recalled(Knowing(1), batch) == pytest.approx(1 / 3)
    blind = torch.nn.Linear(1, 1)
    blind.forward = lambda batch: torch.zeros(len(batch), LETTERS)
    assert recall_loss(blind, batch).item() == pytest.approx(math.log(LETTERS))


@pytest.mark.parametrize("cell", CELLS)
def test_padding_behind_a_text_changes_nothing(cell):
    torch.manual_seed(1)
    model = Rememberer(cell, 5).eval()
    short, mask = next(texts(3, 4, shortest=4)), torch.ones(3, 9).bool()
    mask[:, 5:] = False
    padded = torch.cat([short, torch.full((3, 4), 8)], 1)
    torch.testing.assert_close(model(padded, mask=mask), model(short))
    assert not torch.allclose(model(padded), model(short))


def test_texts_of_small_whole_numbers_are_read_too():
    model, batch = Rememberer("gru"), next(texts(3, 5))
    torch.testing.assert_close(model(batch.int()), model(batch))
    assert recalled(model, batch.int()) == recalled(model, batch)


def test_the_forget_bias_is_where_it_should_be():
    model = Rememberer("lstm", 5, forget_bias=3.0).recurrent
    both = model.bias_ih_l0 + model.bias_hh_l0
    assert both[5:10].tolist() == [3.0] * 5
    assert (both[:5].abs() < 1).all()
    assert (both[10:].abs() < 1).all()


def test_an_orthogonal_matrix_turns_and_keeps_lengths():
    weight = Rememberer("rnn", 5, orthogonal=True).recurrent.weight_hh_l0
    torch.testing.assert_close(weight @ weight.T, torch.eye(5), atol=1e-5, rtol=0)
    moduli = torch.linalg.eigvals(weight).abs()
    torch.testing.assert_close(moduli, torch.ones(5), atol=1e-5, rtol=0)


def test_the_identity_leaves_a_state_as_it_is():
    weight = Rememberer("rnn", 5, identity=True).recurrent.weight_hh_l0
    assert torch.equal(weight, torch.eye(5))
    assert weight.requires_grad


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: Rememberer("gru", forget_bias=1.0), "forget_bias must"),
        (lambda: Rememberer("lstm", orthogonal=True), "orthogonal must"),
        (lambda: Rememberer("gru", identity=True), "identity must"),
        (lambda: next(texts(2, 5, shortest=6)), "shortest must"),
        (lambda: recall_loss(Rememberer("rnn", 5), torch.full((2, 3), LETTERS)), "below 8"),
    ],
)
def test_what_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
