"""Local attention: the window of Luong et al. 2015, beside soft attention under the same mask."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.scores import AdditiveScore, DotScore, GeneralScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.masks import length_mask
from gates2heads.layers.record import record

B, T, S, Q, K, D = 5, 7, 13, 3, 2, 11
LENGTHS = torch.tensor([13, 1, 4, 9, 2])
MASK = length_mask(LENGTHS)[:, None]  # (B, 1, S)


def sizes():
    return [
        torch.randn(*shape, dtype=torch.double, requires_grad=True)
        for shape in ((B, T, Q), (B, S, K), (B, S, D))
    ]


def gradients(outputs, inputs, score):
    total = sum((output * torch.linspace(-1, 1, output.shape[-1])).sum() for output in outputs)
    return torch.autograd.grad(total, [*inputs, *score.parameters()])


@pytest.mark.parametrize("window", [1, 2, 30])
@pytest.mark.parametrize("start", [0, 4])
def test_monotonic_is_soft_attention_in_a_window(parity, window, start):
    score = AdditiveScore(Q, K).double()
    local, soft = LocalAttention(score, window), Attention(score)
    inputs = sizes()
    centre = torch.minimum(torch.arange(T) + start, LENGTHS[:, None] - 1)  # (B, T)
    near = (torch.arange(S) - centre[..., None]).abs() <= window
    results = []
    for outputs in (
        local(*inputs, mask=MASK, start=start),
        soft(*inputs, mask=MASK & near),
    ):
        results.append((outputs, gradients(outputs, inputs, score)))
    parity(
        "LocalAttention, monotonic",
        "Attention with a window as mask",
        *zip(*results, strict=True),
    )


def test_predictive_is_windowed_attention_times_a_gaussian(parity):
    """Luong et al. 2015, eq. 9 and 10, written out for all positions."""
    window = 3
    score = GeneralScore(Q, K).double()
    local = LocalAttention(score, window, predictive=True).double()
    inputs = sizes()
    query, keys, values = inputs
    w_p, v_p = local.place[0].weight, local.place[2].weight[0]
    centre = LENGTHS[:, None] * torch.sigmoid(torch.tanh(query @ w_p.T) @ v_p)  # (B, T)
    distance = torch.arange(S) - centre[..., None]  # (B, T, S)
    soft = Attention(score)
    _, aligned = soft(query, keys, values, mask=MASK & (distance.abs() <= window))
    weights = aligned * torch.exp(-(distance**2) / (2 * (window / 2) ** 2))
    results = []
    for outputs in (local(*inputs, mask=MASK), (weights @ values, weights)):
        results.append((outputs, gradients(outputs, inputs, local)))
    parity("LocalAttention, predictive", "Luong et al. 2015, eq. 9–10", *zip(*results, strict=True))


def test_by_hand():
    # Scores q·k = 0 everywhere, so weights are even in the window. D = 1: step 0 sees positions
    # 0 and 1, step 1 sees 0, 1, 2, step 2 sees 1 and 2 (3 is padding).
    local = LocalAttention(DotScore(1, 1), 1)
    values = torch.tensor([[[3.0], [6.0], [12.0], [99.0]]])
    context, weights = local(
        torch.zeros(1, 3, 1),
        torch.ones(1, 4, 1),
        values,
        mask=torch.tensor([[[True, True, True, False]]]),
    )
    torch.testing.assert_close(context, torch.tensor([[[4.5], [7.0], [9.0]]]))
    third = 1 / 3
    expected = [[[0.5, 0.5, 0, 0], [third, third, third, 0], [0, 0.5, 0.5, 0]]]
    torch.testing.assert_close(weights, torch.tensor(expected))


def test_the_gaussian_by_hand():
    # v_p = 0 puts p at S · σ(0) = 2 of 4 positions. D = 2, σ = 1, even weights ¼ on 0…3, times
    # exp(−(s − 2)²/2).
    local = LocalAttention(DotScore(1, 1), 2, predictive=True)
    nn.init.zeros_(local.place[2].weight)
    _, weights = local(torch.zeros(1, 1, 1), torch.ones(1, 4, 1), torch.ones(1, 4, 1))
    expected = [[[math.exp(-2) / 4, math.exp(-0.5) / 4, 0.25, math.exp(-0.5) / 4]]]
    torch.testing.assert_close(weights, torch.tensor(expected))


@given(window=st.integers(1, 4), start=st.integers(0, 20), predictive=st.booleans())
def test_nothing_outside_the_window(window, start, predictive):
    local = LocalAttention(GeneralScore(Q, K), window, predictive=predictive)
    query, keys, values = (tensor.float() for tensor in sizes())
    with record(local) as trace:
        context, weights = local(query, keys, values, mask=MASK, start=start)
    centre = trace.joined("", "centre")
    far = (torch.arange(S) - centre[..., None]).abs() > window
    assert not weights[far].any()
    assert not weights.masked_select(~MASK).any()
    assert torch.equal(trace.joined("", "weights"), weights)
    torch.testing.assert_close(weights @ values, context)
    if not predictive:
        torch.testing.assert_close(weights.sum(-1), torch.ones(B, T))
    again, _ = local(query, keys, values, mask=MASK, start=start)
    assert torch.equal(again, context)


@given(predictive=st.booleans())
def test_one_query_at_a_time_is_all_at_once(predictive):
    local = LocalAttention(GeneralScore(Q, K), 2, predictive=predictive).double()
    query, keys, values = sizes()
    expected, _ = local(query, keys, values, mask=MASK)
    projected = local.project_keys(keys)
    for step in range(T):
        start = step if step % 2 else torch.full((B,), step)
        context, _ = local(
            query[:, step : step + 1], projected, values, mask=MASK, projected=True, start=start
        )
        torch.testing.assert_close(context[:, 0], expected[:, step])


def test_only_the_window_is_scored():
    class Counting(DotScore):
        scored = 0

        def forward(self, query, projected):
            scores = super().forward(query, projected)
            self.scored += scores.numel()
            return scores

    score = Counting(K, K)
    LocalAttention(score, 2)(torch.zeros(B, T, K), torch.zeros(B, 101, K), torch.zeros(B, 101, D))
    assert score.scored == B * T * 5  # 2D + 1 positions a query, not 101


def test_a_source_without_a_real_token_gives_zeros():
    for predictive in (False, True):
        local = LocalAttention(GeneralScore(Q, K), 2, predictive=predictive).double()
        inputs = sizes()
        outputs = local(*inputs, mask=torch.zeros(B, 1, S, dtype=torch.bool))
        assert not outputs[0].any()
        for gradient in torch.autograd.grad(outputs[0].sum(), inputs):
            assert not gradient.any()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"keys": torch.zeros(B, S, Q)}, ValueError, r"keys must"),
        ({"start": -1}, ValueError, "start must"),
    ],
)
def test_bad_input(change, error, message):
    good = {"query": torch.zeros(B, T, Q), "keys": torch.zeros(B, S, K)}
    good |= {"values": torch.zeros(B, S, D)}
    with pytest.raises(error, match=message):
        LocalAttention(GeneralScore(Q, K), 2)(**{**good, **change})
