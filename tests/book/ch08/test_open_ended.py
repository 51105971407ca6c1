"""Outputs that may not end: what is forbidden, and how repetition is counted."""

import pytest
import torch

from gates2heads.book.ch08.open_ended import repeated, stops, without_stops


class Two:
    """Three tokens, the first the most probable."""

    def step(self, state, last_tokens):
        return torch.tensor([[0.5, 0.3, 0.2]]).log().expand(len(last_tokens), -1), state + 1


def test_repetition_by_hand():
    assert repeated([1, 2, 3, 4, 5]) == 0
    assert repeated([1, 2, 1, 2, 1, 2], 2) == pytest.approx(3 / 5)


def test_what_ends_a_sentence_is_found_with_the_space_before_it():
    assert stops(["a", " .", "!", "dog.", "<eos>"]) == [1, 2, 4]


def test_a_forbidden_token_is_impossible_and_the_others_sum_to_one():
    log_probs, state = without_stops(Two(), [0])(3, torch.tensor([1, 2]))
    assert state == 4
    torch.testing.assert_close(log_probs.exp(), torch.tensor([[0.0, 0.6, 0.4]]).expand(2, -1))
