"""What a wrong token leads to, counted by hand on decoders that are made for it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch04.error_propagation import (
    drift,
    exact_matches,
    forcing_loss,
    wrong_tokens,
)
from gates2heads.data.batches.pairs import collate
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.losses import sequence_loss

DIGITS = torch.arange(3, 13)
EOS, HYPHEN = 2, 13


class Copying(torch.nn.Module):
    """Writes what it has read, whatever it reads of its own: nothing drifts."""

    def start(self, source, *, mask):
        return source, 0

    def step(self, state, last):
        source, place = state
        return torch.eye(14)[source[:, place]].log(), (source, place + 1)


class Counting(torch.nn.Module):
    """Writes the digit after the one that it reads: everything drifts."""

    def start(self, source, *, mask):
        return source[:, 0]

    def step(self, state, last):
        first = last == 1
        return torch.eye(14)[torch.where(first, state, (last - 2) % 10 + 3)].log(), state


def batch_of(*targets):
    return collate([(list(target), list(target)) for target in targets])


def test_a_decoder_that_looks_at_its_source_does_not_drift():
    found = drift(Copying(), batch_of([3, 4, HYPHEN, 5, EOS], [9, 9, HYPHEN, 3, EOS]), DIGITS)
    assert found == {"sound": 2, "drift": [0.0] * 4, "later": [0.0] * 4, "late": [0.0] * 4}


def test_a_decoder_that_looks_at_its_own_does():
    found = drift(Counting(), batch_of([3, 4, 5, 6, 7]), DIGITS)
    assert found.pop("late") is not None
    assert found == {"sound": 1, "drift": [1.0] * 4, "later": [1.0] * 4}


def test_a_decoder_that_repeats_its_last_token_continues_one_position_late():
    # The output is 3, 4, 5, 6 and 7, and only one digit is put in.
    found = drift(Counting(), batch_of([3, 4, 5, 6, 7]), torch.tensor([3]))
    assert found["late"] == [0.0, 1.0, 0.0, 0.0]
    found = drift(Counting(), batch_of([3, 4, 5, 6, 7]), torch.tensor([5]))
    assert found["late"] == [0.0, 0.0, 0.0, 1.0]


def test_exact_matches_by_hand():
    # Counting generates 4, 5, 6 and 7 after 3; one wrong token, and the whole sequence is wrong
    batch = batch_of([3, 4, 5, 6, 7], [3, 5, 5, 5, 5], [3, 4, 5, 6, 8])
    assert exact_matches(Counting(), batch).tolist() == [True, False, False]


@pytest.mark.parametrize("seed", range(3))
def test_an_exact_match_is_decided_by_the_true_prefixes(seed):
    # Section 4.5: until the first error, the own prefix is the true one.
    torch.manual_seed(seed)
    model = EncoderDecoder(7, 5, embedding_size=5, hidden_size=6, score=None).eval()
    batch = collate([([3], [a, b, c]) for a in range(5) for b in range(5) for c in range(5)])
    with torch.no_grad():
        forced = (model(batch).argmax(dim=-1) == batch.target_out).all(dim=1)
    assert torch.equal(exact_matches(model, batch), forced)
    assert forced.sum() == 1


def test_what_was_wrong_before_does_not_count():
    found = drift(Counting(), batch_of([3, 4, 5, 6, 7], [3, 5, 5, 5, 5]), DIGITS)
    assert found["sound"] == 1
    with pytest.raises(ValueError, match="model must"):
        drift(Counting(), batch_of([3, 5, 5]), DIGITS)


@given(st.lists(st.integers(3, 13), min_size=1, max_size=20), st.integers(0, 999))
def test_a_wrong_token_is_another_digit(tokens, seed):
    tokens = torch.tensor(tokens)
    wrong = wrong_tokens(tokens, DIGITS, torch.Generator().manual_seed(seed))
    assert torch.isin(wrong, DIGITS).all()
    assert (wrong != tokens).all()


def test_every_other_digit_is_drawn():
    tokens = torch.full((2000,), 5)
    wrong = wrong_tokens(tokens, DIGITS, torch.Generator().manual_seed(0))
    assert set(wrong.tolist()) == set(range(3, 13)) - {5}
    hyphens = wrong_tokens(torch.full((2000,), HYPHEN), DIGITS, torch.Generator().manual_seed(0))
    assert set(hyphens.tolist()) == set(range(3, 13))


def test_the_loss_with_a_teacher_is_the_library_s():
    torch.manual_seed(0)
    model = EncoderDecoder(14, 14, embedding_size=5, hidden_size=6, score=None)
    batch = batch_of([3, 4, EOS], [5, EOS])
    torch.testing.assert_close(
        forcing_loss(lambda step: 1.0)(model, batch), sequence_loss(model, batch)
    )


def test_each_call_is_the_next_step():
    asked = []
    loss = forcing_loss(lambda step: asked.append(step) or 0.5)
    model = EncoderDecoder(14, 14, embedding_size=5, hidden_size=6, score=None)
    for _ in range(3):
        loss(model, batch_of([3, EOS]))
    assert asked == [0, 1, 2]


def test_mistakes_get_one_sentence():
    with pytest.raises(ValueError, match="batch must"):
        drift(Copying(), batch_of([3, EOS], [3, 4, EOS]), DIGITS)
