"""Layers against torch.nn: seconds of both in one run, forward and backward, and their ratio."""

import pytest
import torch
from torch import nn

from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import key_mask, length_mask
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import GRU, LSTM, RNN

WIDTH, HEADS = 256, 8


def forward_and_backward(run, *modules):
    """Give a function that runs once and leaves no gradients behind."""

    def once():
        for module in modules:
            module.zero_grad(set_to_none=True)
        run().sum().backward()

    return once


@pytest.mark.parametrize(
    ("ours", "theirs", "at_most"),
    [(RNN, nn.RNN, 1.5), (GRU, nn.GRU, 1.5), (LSTM, nn.LSTM, 2.5)],
    ids=["rnn", "gru", "lstm"],
)
def test_recurrent(in_turn, ours, theirs, at_most):
    """Batch 32, 50 steps, width 256."""
    layer, twin = ours(WIDTH, WIDTH), theirs(WIDTH, WIDTH, batch_first=True)
    layer.load_state_dict(twin.state_dict())
    inputs = torch.randn(32, 50, WIDTH)
    in_turn(
        f"{ours.__name__}, batch 32, 50 steps, width 256",
        f"torch.nn.{theirs.__name__}",
        forward_and_backward(lambda: layer(inputs)[0], layer),
        forward_and_backward(lambda: twin(inputs)[0], twin),
        at_most=at_most,
        rounds=12,
    )


@pytest.mark.parametrize(("batch", "length", "rounds"), [(8, 128, 20), (1, 1024, 10)])
@pytest.mark.parametrize("padded", [False, True])
def test_multi_head_attention(in_turn, batch, length, rounds, padded):
    """Against the faster form of the twin, the one that returns no weights."""
    layer = MultiHeadAttention(WIDTH, HEADS)
    twin = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    layer.load_state_dict(twin.state_dict())
    inputs = torch.randn(batch, length, WIDTH, requires_grad=True)
    real = length_mask(torch.arange(length, length - batch, -1), length) if padded else None
    hidden = ~real if padded else None
    in_turn(
        f"attention, {batch} × {length}{', padded' if padded else ''}",
        "torch.nn.MultiheadAttention",
        forward_and_backward(lambda: layer(inputs, mask=key_mask(real)), layer),
        forward_and_backward(
            lambda: twin(inputs, inputs, inputs, key_padding_mask=hidden, need_weights=False)[0],
            twin,
        ),
        at_most=1.0,
        rounds=rounds,
    )


@pytest.mark.parametrize(("batch", "length", "rounds"), [(8, 128, 20), (1, 1024, 6)])
def test_recorded_multi_head_attention(in_turn, batch, length, rounds):
    """Somebody records: against the form of the twin that returns the weights."""
    layer = MultiHeadAttention(WIDTH, HEADS)
    twin = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    inputs = torch.randn(batch, length, WIDTH, requires_grad=True)

    def recorded():
        with record(layer):
            return layer(inputs)

    in_turn(
        f"attention, {batch} × {length}, recorded",
        "torch.nn.MultiheadAttention, weights returned",
        forward_and_backward(recorded, layer),
        forward_and_backward(
            lambda: twin(inputs, inputs, inputs, average_attn_weights=False)[0], twin
        ),
        at_most=1.2,
        rounds=rounds,
    )
