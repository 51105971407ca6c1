"""Perplexity: the three forms of the notes agree, equal torch's loss, and stand long texts."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.metrics.perplexity import (
    mean_surprisal,
    perplexity,
    perplexity_base2,
    perplexity_geometric,
)

FORMS = [perplexity, perplexity_base2, perplexity_geometric]
PROBS = st.lists(
    st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=1, max_size=5
)  # (N, 3)


@pytest.mark.parametrize("form", FORMS)
def test_by_hand(form):
    # p = 1/2, 1/4 and 1/8, 1: inverse product 2 · 4 · 8 · 1 = 64, T = 4: 64^(1/4) = 2^(6/4)
    log_probs = torch.tensor([[1 / 2, 1 / 4], [1 / 8, 1]]).log()
    assert form(log_probs) == pytest.approx(2**1.5)


@pytest.mark.parametrize("form", FORMS)
def test_padding_is_never_read(form):
    # real tokens: 1/2, 1/4 and 1/8: (2 · 4 · 8)^(1/3) = 4
    log_probs = torch.tensor([[1 / 2, 1 / 4, 1], [1 / 8, 1, 1]]).log()
    log_probs[0, 2], log_probs[1, 1], log_probs[1, 2] = math.nan, math.inf, -math.inf
    mask = torch.tensor([[True, True, False], [True, False, False]])
    assert form(log_probs, mask=mask) == pytest.approx(4)


@pytest.mark.parametrize("form", FORMS)
def test_equals_the_exponential_of_torchs_cross_entropy(form):
    torch.manual_seed(3)
    logits, targets = torch.randn(5, 7, 11, dtype=torch.float64), torch.randint(11, (5, 7))
    targets[2, 3:] = -100  # torch's mark for padding
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    real = targets != -100
    picked = logits.log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    assert form(picked, mask=real) == pytest.approx(loss.exp().item(), rel=1e-12)
    assert mean_surprisal(picked, mask=real) == pytest.approx(loss.item(), rel=1e-12)


@given(PROBS, st.data())
def test_the_three_forms_agree(probs, data):
    log_probs = torch.tensor(probs, dtype=torch.float64).log()
    flags = st.lists(st.booleans(), min_size=log_probs.numel(), max_size=log_probs.numel())
    mask = torch.tensor(data.draw(flags.filter(any))).reshape(log_probs.shape)
    first, *others = [form(log_probs, mask=mask) for form in FORMS]
    assert others == pytest.approx([first, first], rel=1e-9)


@given(PROBS)
def test_bits_and_nats_give_one_perplexity(probs):
    log_probs = torch.tensor(probs, dtype=torch.float64).log()
    nats, bits = (mean_surprisal(log_probs, unit=unit) for unit in ("nats", "bits"))
    assert bits == pytest.approx(nats / math.log(2))
    assert 2**bits == pytest.approx(math.exp(nats)) == pytest.approx(perplexity(log_probs))


@pytest.mark.parametrize("form", FORMS)
def test_a_uniform_model_hesitates_between_all_words(form):
    # and 100,003 tokens would underflow a plain product
    log_probs = torch.full((1, 100_003), -math.log(17.0), dtype=torch.float64)
    assert form(log_probs) == pytest.approx(17, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("worst", [-math.inf, -1e5])
def test_an_impossible_token_gives_inf(form, worst):
    assert form(torch.tensor([-1.0, 7 * worst])) == math.inf


@pytest.mark.parametrize("form", FORMS)
def test_half_precision_and_gradients_are_no_obstacle(form):
    log_probs = torch.full((3, 5), -0.5, dtype=torch.bfloat16, requires_grad=True)
    assert form(log_probs) == pytest.approx(math.exp(0.5))


@pytest.mark.parametrize("form", [*FORMS, mean_surprisal])
@pytest.mark.parametrize(
    ("log_probs", "mask", "error", "message"),
    [
        (torch.zeros(0), None, ValueError, "log_probs must"),
        (torch.tensor([math.nan]), None, ValueError, "log_probs must"),
        (torch.tensor([2.5]), None, ValueError, "0 or less, got 2.5: apply log_softmax to logits"),
        (torch.zeros(3), torch.ones(2).bool(), ValueError, r"log_probs, \(3,\), got \(2,\)"),
        (torch.zeros(3), torch.zeros(3).bool(), ValueError, "at least one real token, got none"),
    ],
)
def test_bad_input_is_named(form, log_probs, mask, error, message):
    with pytest.raises(error, match=message):
        form(log_probs, mask=mask)
