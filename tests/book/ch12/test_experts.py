"""A mixture of experts: its gates, its load, its balance, and the sublayer with one expert."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.book.ch12.experts import (
    MixtureOfExperts,
    balance_loss,
    mixtures,
    with_experts,
)
from gates2heads.models.language.decoder_only import GPT2, LLAMA, DecoderOnly

SIZES = {"d_model": 8, "nhead": 2, "num_layers": 3, "dim_feedforward": 13, "max_length": 11}


def layer(experts: int, seed: int = 0) -> MixtureOfExperts:
    torch.manual_seed(seed)
    return MixtureOfExperts(5, 7, experts)


def test_each_token_gets_its_most_probable_expert_times_the_gate():
    mixture, vectors = layer(3), torch.randn(2, 11, 5)
    output = mixture(vectors)
    probabilities = mixture.router(vectors).softmax(dim=-1)
    for row in range(2):
        for position in range(11):
            gate, number = probabilities[row, position].max(dim=-1)
            one = mixture.experts[number](vectors[row : row + 1, position : position + 1])
            torch.testing.assert_close(output[row, position], gate * one[0, 0])


def test_with_one_expert_it_is_the_dense_sublayer():
    mixture, vectors = layer(1), torch.randn(2, 3, 5)
    torch.testing.assert_close(mixture(vectors), mixture.experts[0](vectors))
    assert mixture.balance.item() == pytest.approx(1)
    assert mixture.load.tolist() == [1]


def test_the_balance_by_hand():
    """Three of four tokens go to expert 0: f = (3/4, 1/4)."""
    mixture = MixtureOfExperts(2, 3, 2)
    probabilities = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.7, 0.3], [0.3, 0.7]])
    mixture.router.weight.data = torch.eye(2)
    mixture(probabilities.log()[None])
    assert mixture.load.tolist() == [0.75, 0.25]
    # P = (0.6, 0.4): 2 · (0.75 · 0.6 + 0.25 · 0.4)
    assert mixture.balance.item() == pytest.approx(1.1)


def test_the_balance_is_one_where_all_probabilities_are_equal():
    mixture = layer(5)
    mixture.router.weight.data.zero_()
    mixture(torch.randn(2, 11, 5))
    assert mixture.balance.item() == pytest.approx(1)


@given(st.integers(1, 7), st.integers(0, 99))
def test_the_loads_sum_to_one_and_the_balance_is_at_most_the_number_of_experts(experts, seed):
    mixture = layer(experts, seed)
    output = mixture(5 * torch.randn(2, 3, 5))
    assert output.shape == (2, 3, 5)
    assert mixture.load.sum().item() == pytest.approx(1)
    assert 0 < mixture.balance.item() <= experts + 1e-5


@pytest.mark.parametrize("what", ["output", "balance"])
def test_the_gradient_reaches_the_router(what):
    mixture = layer(3)
    output = mixture(torch.randn(2, 11, 5))
    (output.square().sum() if what == "output" else mixture.balance).backward()
    assert mixture.router.weight.grad.abs().max() > 1e-4
    reached = [expert.down_proj.weight.grad is not None for expert in mixture.experts]
    used = (mixture.load > 0).tolist()
    assert reached == (used if what == "output" else [False] * 3)


def test_a_step_down_the_balance_loss_makes_the_load_more_even():
    mixture, vectors = layer(3), torch.randn(1, 97, 5) + 1.0
    mixture.router.weight.data[0] += 1.0
    mixture(vectors)
    before, start = mixture.load.max().item(), mixture.balance.item()
    optimiser = torch.optim.SGD(mixture.router.parameters(), lr=0.3)
    for _ in range(60):
        optimiser.zero_grad()
        mixture(vectors)
        mixture.balance.backward()
        optimiser.step()
    assert mixture.balance.item() < start
    assert mixture.load.max().item() < before


def test_a_model_gets_one_in_each_layer_with_the_initialisation_of_the_rest():
    torch.manual_seed(0)
    sizes = {**SIZES, "d_model": 64, "dim_feedforward": 172}
    model = with_experts(DecoderOnly(17, **sizes, **LLAMA), 4)
    assert len(mixtures(model)) == 3
    for mixture in mixtures(model):
        assert [len(mixture.experts), mixture.router.out_features] == [4, 4]
        assert mixture.router.weight.std().item() == pytest.approx(0.02, rel=0.2)
        for expert in mixture.experts:
            assert expert.up_proj.weight.std().item() == pytest.approx(0.02, rel=0.1)
            assert expert.down_proj.weight.std().item() == pytest.approx(0.02 / 6**0.5, rel=0.1)


def test_the_balance_loss_is_the_sum_over_the_layers():
    torch.manual_seed(0)
    model = with_experts(DecoderOnly(17, **SIZES, **LLAMA), 4)
    model.logits(torch.randint(17, (2, 7)))
    each = [mixture.balance.item() for mixture in mixtures(model)]
    assert balance_loss(model).item() == pytest.approx(sum(each))


def test_a_model_with_experts_is_causal():
    torch.manual_seed(0)
    model = with_experts(DecoderOnly(17, **SIZES, **LLAMA), 4).eval()
    tokens = torch.randint(17, (1, 7))
    other = tokens.clone()
    other[0, 5:] = (other[0, 5:] + 1) % 17
    torch.testing.assert_close(model.logits(tokens)[:, :5], model.logits(other)[:, :5])


def test_a_model_without_a_gated_sublayer_is_refused():
    with pytest.raises(ValueError, match="swiglu"):
        with_experts(DecoderOnly(17, **SIZES, **GPT2), 4)
