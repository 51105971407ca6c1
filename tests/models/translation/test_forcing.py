"""What a decoder reads: true tokens, its own, or a mixture; with a decoder that writes it down."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.models.translation.forcing import (
    exponential_share,
    linear_share,
    sigmoid_share,
    unroll,
)

V = 11
BOS, TRUE, OWN = 1, 5, 8


class Notebook:
    """A decoder that writes down what it reads, and whose likeliest next token is always OWN."""

    def __init__(self, probs=None):
        self.read = []
        self.logits = torch.zeros(V)
        self.logits[OWN] = 9.0
        if probs is not None:
            self.logits = torch.tensor([probs.get(token, 0.0) for token in range(V)]).log()

    def step(self, state, last_tokens):
        self.read.append(last_tokens)
        return self.logits.expand(len(last_tokens), V) + state, state + 1

    def seen(self):
        return torch.stack(self.read, dim=1)  # (B, T)


def target(rows, steps):
    tokens = torch.full((rows, steps), TRUE)
    tokens[:, 0] = BOS
    return tokens


def test_teacher_forcing_reads_the_target_and_draws_nothing():
    notebook, before = Notebook(), torch.get_rng_state()
    logits = unroll(notebook.step, 0, target(3, 7))
    assert torch.equal(notebook.seen(), target(3, 7))
    assert torch.equal(torch.get_rng_state(), before)
    # The state went from step to step: 0, 1, 2, …
    assert torch.equal(logits[0, :, 0], torch.arange(7.0))
    assert logits.shape == (3, 7, V)


def test_free_running_reads_the_first_token_and_then_its_own():
    notebook = Notebook()
    unroll(notebook.step, 0, target(3, 7), forced=0)
    assert notebook.seen().tolist() == [[BOS] + [OWN] * 6] * 3


@pytest.mark.parametrize("share", [np.float32(0.5), np.float64(0.5)])
def test_any_kind_of_number_may_be_the_share(share):
    seen = []
    for forced in (share, 0.5):
        notebook, generator = Notebook(), torch.Generator().manual_seed(7)
        unroll(notebook.step, 0, target(5, 7), forced=forced, generator=generator)
        seen.append(notebook.seen())
    assert torch.equal(*seen)


def test_mixing_tosses_a_coin_for_every_token_of_every_sequence():
    notebook, generator = Notebook(), torch.Generator().manual_seed(7)
    unroll(notebook.step, 0, target(101, 103), forced=0.3, generator=generator)
    seen = notebook.seen()
    assert (seen[:, 0] == BOS).all()
    true = seen[:, 1:] == TRUE
    assert torch.equal(~true, seen[:, 1:] == OWN)
    # 101 · 102 coins: the standard deviation of a share of 0.3 is 0.0045; along one axis, 0.046
    assert true.double().mean().item() == pytest.approx(0.3, abs=4 * 0.0045)
    for axis in (0, 1):
        shares = true.double().mean(axis)
        assert shares.min() > 0.3 - 5 * 0.046
        assert shares.max() < 0.3 + 5 * 0.046
    # Neighbours, in time or in the batch, agree as often as independent coins do: 0.3² + 0.7².
    for one, other in ((true[1:], true[:-1]), (true[:, 1:], true[:, :-1])):
        assert (one == other).double().mean().item() == pytest.approx(0.58, abs=0.02)


def test_the_same_generator_gives_the_same_reading():
    def reading(seed):
        notebook, generator = Notebook({3: 0.5, 4: 0.5}), torch.Generator().manual_seed(seed)
        options = {"forced": 0.5, "own": "drawn", "generator": generator}
        unroll(notebook.step, 0, target(5, 7), **options)
        return notebook.seen()

    assert torch.equal(reading(3), reading(3))
    assert not torch.equal(reading(3), reading(4))


def test_drawn_tokens_follow_what_the_decoder_says():
    notebook, generator = Notebook({3: 0.25, 4: 0.75}), torch.Generator().manual_seed(7)
    unroll(notebook.step, 0, target(101, 104), forced=0, own="drawn", generator=generator)
    seen = notebook.seen()[:, 1:]
    assert set(seen.unique().tolist()) == {3, 4}
    # 101 · 103 draws: the standard deviation of a share of 0.25 is 0.0042
    assert (seen == 3).double().mean().item() == pytest.approx(0.25, abs=4 * 0.0042)


def test_no_gradient_flows_through_an_own_token():
    weight = torch.randn(V, V, requires_grad=True)

    def step(state, last_tokens):
        return weight[last_tokens], state

    for own in ("likeliest", "drawn"):
        logits = unroll(step, None, torch.tensor([[BOS, TRUE]]), forced=0, own=own)
        (gradient,) = torch.autograd.grad(logits[0, 1, 0], weight)
        assert gradient.count_nonzero() == 1  # the row that was read, and nothing of the choice


def test_the_schedules_by_hand():
    assert [linear_share(t, slope=0.25, floor=0.1) for t in range(6)] == [
        1,
        0.75,
        0.5,
        0.25,
        0.1,
        0.1,
    ]
    assert [exponential_share(t, base=0.5) for t in range(4)] == [1, 0.5, 0.25, 0.125]
    assert sigmoid_share(0, scale=3) == pytest.approx(3 / 4)  # k / (k + 1)
    assert sigmoid_share(6, scale=3) == pytest.approx(3 / (3 + math.e**2))
    assert sigmoid_share(10**9, scale=1) == 0


@given(step=st.integers(0, 10**6), scale=st.floats(1, 1e5))
def test_every_schedule_is_a_share_that_never_grows(step, scale):
    for share in (
        lambda t: linear_share(t, slope=1 / scale),
        lambda t: exponential_share(t, base=1 - 1 / scale),
        lambda t: sigmoid_share(t, scale=scale),
    ):
        assert 0 <= share(step + 1) <= share(step) <= 1


def test_a_step_that_forgets_its_state_is_refused():
    with pytest.raises(TypeError, match=r"step must"):
        unroll(lambda state, last_tokens: torch.zeros(1, V), 0, target(1, 2))
