"""The checks of chapter 4 that no function answers, its decoder by hand, and its planted fault."""

import math

import pytest
import torch

from gates2heads.book.ch04.exercises import (
    BEGIN,
    END,
    WHOLE,
    adding_step,
    check_digits,
    check_whole,
    field,
    greedy_decode,
)
from gates2heads.book.ch04.faulty import FAULTS, check_fault, faulty_pair
from gates2heads.data.batches.pairs import collate
from gates2heads.models.translation.encoders import ConvolutionalEncoder
from gates2heads.training.losses import sequence_loss


def test_six_digits_are_always_safe_and_seven_are_not():
    for number in (1_999_999, 1_000_000, 16_777_215):
        assert int(torch.tensor(float(number))) == number
    assert int(torch.tensor(19_999_999.0)) != 19_999_999
    for answer in (6, 6.0, torch.tensor(6)):
        assert check_digits(answer).passed


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (7, "Some sequences of seven digits fit"),
        (8, "the first one is the leading 1"),
        (24, "number of bits"),
        (7.22, "logarithm of 2²⁴"),
        (100, "What is the largest number"),
        ("six", "should be a number, got 'six'"),
        (math.inf, "should be a number, got inf"),
        (..., "not tried yet"),
    ],
)
def test_other_digits_get_a_sentence(answer, told):
    verdict = check_digits(answer)
    assert not verdict.passed
    assert told in verdict.message


def test_the_share_of_whole_dates():
    assert math.prod([0.98] * 11) == pytest.approx(WHOLE)
    for answer in (0.8007, 0.8, torch.tensor(0.801)):
        assert check_whole(answer).passed


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (0.98, "share of correct tokens"),
        (0.817, "for ten tokens"),
        (78, "probabilities are multiplied"),
        (0.199, "at least one wrong token"),
        (10.78, "multiplied, not added"),
        (0.5, "multiply eleven probabilities"),
        (80, "That is a percentage"),
        (None, "should be a number"),
        (..., "not tried yet"),
    ],
)
def test_other_shares_get_a_sentence(answer, told):
    verdict = check_whole(answer)
    assert not verdict.passed
    assert told in verdict.message


def test_the_decoder_by_hand():
    assert greedy_decode(adding_step, 1471, BEGIN, END, 9) == [1, 8, 2]
    log_probs, state = adding_step(1, 3)
    assert (int(log_probs.argmax()), state) == (END, 1)
    torch.testing.assert_close(log_probs.exp().sum(), torch.tensor(1.0))
    with pytest.raises(TypeError, match="state and token must be whole numbers"):
        adding_step(1.5, 3)


@pytest.mark.parametrize("dilations", [[1], [1, 1, 1], [1, 2, 4]])
def test_the_field_is_what_gradients_reach(dilations):
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder(7, 5, 6, kernel_size=3, dilations=dilations)
    vectors = torch.randn(1, 41, 6, requires_grad=True)
    mask, states = torch.ones(1, 41, dtype=torch.bool), vectors
    for block in encoder.blocks:
        states = block(states, mask=mask)
    states[0, 20].sum().backward()
    assert int((vectors.grad[0].abs().sum(-1) > 0).sum()) == field(3, dilations)
    assert encoder.receptive_field == field(3, dilations)


def test_the_fault_is_named_and_the_others_are_spoken_against():
    assert check_fault("b").passed
    assert "ignores the source" in check_fault(" (B). ").message
    assert FAULTS.keys() == {"a", "b", "c", "d"}
    excluded_by = {"a": "at least as accurate", "c": "at least 1 nat", "d": "of a correct network"}
    for letter, symptom in excluded_by.items():
        verdict = check_fault(letter)
        assert not verdict.passed
        assert "That explains" in verdict.message
        assert symptom in verdict.message
    assert "Answer with one of the letters" in check_fault("x").message
    assert "not tried yet" in check_fault(...).message


def test_the_faulty_pair_reads_what_it_should_write():
    torch.manual_seed(0)
    model = faulty_pair(11, 13)
    batch = collate([([3, 4, 2], [5, 6, 7, 2])])
    reads = []
    model.decoder.cell.register_forward_pre_hook(lambda cell, given: reads.append(given[0]))
    sequence_loss(model, batch)
    wanted = model.decoder.embedding(batch.target_out[0])
    torch.testing.assert_close(torch.cat(reads)[:, :32], wanted)
