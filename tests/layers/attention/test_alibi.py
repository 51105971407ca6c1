"""ALiBi: beside the formula in a loop, at any length, and what it refuses."""

import math

import pytest
import torch

from gates2heads.layers.attention.alibi import ALiBiAttention
from gates2heads.layers.record import record

B, S, D, H = 2, 7, 12, 3
K = D // H


def by_formula(layer, x):
    """One query and one head at a time, with scores, biases and softmax as in the paper."""
    projected = x @ layer.in_proj.weight.T + layer.in_proj.bias
    queries, keys, values = projected.split(D, -1)
    out = torch.zeros(len(x), D)
    for h in range(H):
        slope, head = 2 ** (-8 * (h + 1) / H), slice(h * K, (h + 1) * K)
        for i in range(len(x)):
            scores = [
                (queries[i, head] @ keys[j, head]).item() / math.sqrt(K) - slope * (i - j)
                for j in range(i + 1)
            ]
            total = sum(map(math.exp, scores))
            for j, score in enumerate(scores):
                out[i, head] += math.exp(score) / total * values[j, head]
    return out @ layer.out_proj.weight.T + layer.out_proj.bias


def layer_and_input():
    torch.manual_seed(5)
    layer, x = ALiBiAttention(D, H), torch.randn(B, S, D)
    with torch.no_grad():
        for bias in (layer.in_proj.bias, layer.out_proj.bias):
            bias.normal_()
    return layer, x


def test_the_formula_in_a_loop():
    layer, x = layer_and_input()
    with torch.no_grad(), record(layer) as trace:
        found = layer(x)
        for one, wanted in zip(found, x, strict=True):
            torch.testing.assert_close(one, by_formula(layer, wanted), rtol=0, atol=1e-5)
    (weights,) = trace[""]["weights"]
    assert weights.shape == (B, H, S, S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, S))


def test_the_future_changes_nothing_and_neither_does_the_length():
    layer, x = layer_and_input()
    with torch.no_grad():
        torch.testing.assert_close(layer(x)[:, :4], layer(x[:, :4]))


def test_gradients_reach_every_parameter():
    layer, x = layer_and_input()
    layer(x).square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in layer.parameters())


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: ALiBiAttention(10, 3), "num_heads must"),
    ],
)
def test_what_it_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()
