"""Feed-forward, residual and convolution blocks."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.blocks import ConvolutionBlock, FeedForward, Residual
from gates2heads.layers.masks import length_mask
from gates2heads.layers.norms import RMSNorm
from gates2heads.layers.record import record

B, S, D, HIDDEN = 5, 7, 3, 11


def gradients(output, inputs, parameters):
    seeds = torch.linspace(-1, 1, output.numel(), dtype=torch.double).view_as(output)
    return torch.autograd.grad((output * seeds).sum(), [inputs, *parameters])


def randn(*shape):
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
def test_feed_forward_equals_two_convolutions_of_width_one(parity, activation):
    layer = FeedForward(D, HIDDEN, activation).double()
    first, second = nn.Conv1d(D, HIDDEN, 1).double(), nn.Conv1d(HIDDEN, D, 1).double()
    for convolution, linear in ((first, layer.linear1), (second, layer.linear2)):
        convolution.weight.data = linear.weight.data[..., None]  # (out, in) -> (out, in, 1)
        convolution.bias.data = linear.bias.data
    inputs = randn(B, S, D)
    output = layer(inputs)
    hidden = getattr(F, activation)(first(inputs.transpose(1, 2)))
    expected = second(hidden).transpose(1, 2)
    parity(
        f"FeedForward, {activation}",
        "nn.Conv1d with kernels of width 1",
        ([output], [expected]),
        (
            [gradient.squeeze(-1) for gradient in gradients(output, inputs, layer.parameters())],
            [
                gradient.squeeze(-1)
                for gradient in gradients(
                    expected, inputs, [*first.parameters(), *second.parameters()]
                )
            ],
        ),
    )


def test_feed_forward_by_hand():
    # hidden = relu(2x − 1, −x), output = h₁ + 3 h₂ + 5: x = 2 gives 3 + 0 + 5, x = −1 gives 3·1 + 5
    layer = FeedForward(1, 2)
    with torch.no_grad():
        layer.linear1.weight.copy_(torch.tensor([[2.0], [-1.0]]))
        layer.linear1.bias.copy_(torch.tensor([-1.0, 0.0]))
        layer.linear2.weight.copy_(torch.tensor([[1.0, 3.0]]))
        layer.linear2.bias.fill_(5.0)
    output = layer(torch.tensor([[[2.0], [-1.0]]]))
    torch.testing.assert_close(output, torch.tensor([[[8.0], [8.0]]]))


@given(order=st.permutations(range(S)))
def test_feed_forward_does_not_know_the_order(order):
    layer = FeedForward(D, HIDDEN)
    inputs = torch.randn(B, S, D)
    torch.testing.assert_close(layer(inputs[:, order]), layer(inputs)[:, order])


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_residual(norm_first, norm):
    residual = Residual(D, norm_first=norm_first, norm=norm)
    nn.init.normal_(residual.norm.weight)
    layer = nn.Linear(D, D)
    vectors = torch.randn(B, S, D)
    output = residual.after(vectors, layer(residual.before(vectors)))
    if norm_first:
        expected = vectors + layer(residual.norm(vectors))
    else:
        expected = residual.norm(vectors + layer(vectors))
    assert torch.equal(output, expected)
    assert isinstance(residual.norm, RMSNorm) == (norm == "rms")


def test_residual_dropout_hides_what_was_computed_not_what_was_there():
    residual = Residual(D, dropout=1.0, norm_first=True)
    vectors = torch.randn(B, S, D)
    assert torch.equal(residual.after(vectors, torch.ones(B, S, D)), vectors)
    assert torch.equal(residual.eval().after(vectors, torch.ones(B, S, D)), vectors + 1)


def papers_block(vectors, block, reach_left, dilation):
    """Gehring et al. 2017, position by position, tap by tap."""
    weight, bias = block.convolution.weight, block.convolution.bias
    rows = []
    for place in range(vectors.shape[1]):
        total = bias.expand(len(vectors), -1)
        for tap in range(weight.shape[2]):
            seen = place - reach_left + tap * dilation
            if 0 <= seen < vectors.shape[1]:
                total = total + vectors[:, seen] @ weight[:, :, tap].T
        first, gate = total.chunk(2, dim=-1)
        rows.append((vectors[:, place] + first * torch.sigmoid(gate)) * math.sqrt(0.5))
    return torch.stack(rows, dim=1)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_residual_notes_what_came_what_was_added_and_what_went(norm_first):
    residual = Residual(D, norm_first=norm_first)
    vectors, computed = torch.randn(B, S, D), torch.randn(B, S, D)
    with record(residual) as trace:
        output = residual.after(vectors, computed)
    notes = {name: noted for name, (noted,) in trace[""].items()}
    assert notes.keys() == {"before", "added", "after"}
    assert torch.equal(notes["before"], vectors)
    assert torch.equal(notes["added"], computed)
    assert torch.equal(notes["after"], output)


@pytest.mark.parametrize(
    ("kernel_size", "dilation", "causal"),
    [(3, 1, True), (2, 3, True), (1, 1, True), (3, 1, False), (5, 1, False), (3, 2, False)],
)
def test_convolution_equals_the_paper_in_loops(parity, kernel_size, dilation, causal):
    block = ConvolutionBlock(D, kernel_size, dilation=dilation, causal=causal).double()
    inputs = randn(B, S, D)
    output = block(inputs)
    left = block.reach if causal else block.reach // 2
    expected = papers_block(inputs, block, left, dilation)
    parity(
        f"ConvolutionBlock, {'causal' if causal else 'centred'}",
        "Gehring et al. 2017, in loops",
        ([output], [expected]),
        (
            gradients(output, inputs, block.parameters()),
            gradients(expected, inputs, block.parameters()),
        ),
    )


def test_convolution_by_hand():
    # Kernel 2 with weights (10, 1) for A, and 0 for B, so σ(B) = ½: (x_t + ½(10 x_{t−1} + x_t))/√2
    block = ConvolutionBlock(1, 2)
    with torch.no_grad():
        block.convolution.weight.copy_(torch.tensor([[[10.0, 1.0]], [[0.0, 0.0]]]))
        block.convolution.bias.zero_()
    output = block(torch.tensor([[[2.0], [4.0]]])) * math.sqrt(2)
    torch.testing.assert_close(output, torch.tensor([[[3.0], [16.0]]]))


@given(
    step=st.integers(0, S - 1),
    kernel_size=st.integers(1, 4),
    dilation=st.integers(1, 3),
)
def test_causality_and_receptive_field(step, kernel_size, dilation):
    block = ConvolutionBlock(D, kernel_size, dilation=dilation)
    inputs = torch.randn(B, S, D)
    changed = inputs.clone()
    changed[:, step] += 1
    moved = (block(inputs) != block(changed)).any(-1).any(0)
    reached = {step + tap * dilation for tap in range(kernel_size)}
    assert {place for place in range(S) if moved[place]} == {r for r in reached if r < S}


@given(cut=st.integers(1, S - 1), kernel_size=st.integers(1, 4), dilation=st.integers(1, 3))
def test_cached_equals_uncached(cut, kernel_size, dilation):
    block = ConvolutionBlock(D, kernel_size, dilation=dilation).double()
    inputs = randn(B, S, D)
    first, past = block.step(inputs[:, :cut])
    second, past = block.step(inputs[:, cut:], past)
    torch.testing.assert_close(torch.cat([first, second], dim=1), block(inputs))
    assert past.shape == (B, block.reach, D)


@given(causal=st.booleans(), padding=st.integers(0, 4))
def test_padding_changes_nothing(causal, padding):
    block = ConvolutionBlock(D, 3, causal=causal)
    inputs = torch.randn(2, S, D)
    padded = torch.cat([inputs, torch.full((2, padding, D), 1e3)], dim=1)
    mask = length_mask(torch.tensor([S, S]), S + padding)
    torch.testing.assert_close(block(padded, mask=mask)[:, :S], block(inputs))


def test_convolution_dropout():
    block = ConvolutionBlock(D, 3, dropout=1.0)
    inputs = torch.randn(B, S, D)
    bias = F.glu(block.convolution.bias, dim=-1)
    torch.testing.assert_close(block(inputs), (inputs + bias) * math.sqrt(0.5))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ConvolutionBlock(D, 2, causal=False),
            ValueError,
            "kernel_size must",
        ),
        (
            lambda: ConvolutionBlock(D, 3, causal=False).step(torch.zeros(B, 1, D)),
            ValueError,
            "a block must be causal to go step by step",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_feed_forward_network_is_two_convolutions_of_kernel_size_1():
    torch.manual_seed(0)
    ffn, x = FeedForward(5, 7), torch.randn(2, 3, 5)
    hidden = F.conv1d(x.mT, ffn.linear1.weight[..., None], ffn.linear1.bias).relu()
    output = F.conv1d(hidden, ffn.linear2.weight[..., None], ffn.linear2.bias)
    torch.testing.assert_close(ffn(x), output.mT)
