"""Encoder and decoder layers beside their twins in torch.nn."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.masks import causal_mask, key_mask, length_mask
from gates2heads.layers.norms import RMSNorm
from gates2heads.layers.record import record
from gates2heads.layers.transformer_layers import (
    DECODER_NAMES,
    ENCODER_NAMES,
    DecoderLayer,
    EncoderLayer,
    rename,
)

B, T, S, D, H, HIDDEN = 5, 7, 11, 6, 3, 13
REAL = length_mask(torch.tensor([11, 1, 4, 7, 2]))  # (B, S)
REAL_TARGET = length_mask(torch.tensor([7, 1, 4, 5, 2]))  # (B, T)
styles = pytest.mark.parametrize(
    ("norm_first", "activation"), [(False, "relu"), (True, "relu"), (True, "gelu")]
)
TWINS = {
    EncoderLayer: (nn.TransformerEncoderLayer, ENCODER_NAMES),
    DecoderLayer: (nn.TransformerDecoderLayer, DECODER_NAMES),
}


def pair(ours, norm_first, activation):
    theirs, names = TWINS[ours]
    twin = theirs(D, H, HIDDEN, 0.0, activation, batch_first=True, norm_first=norm_first).double()
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)  # biases are zero at first
    layer = ours(D, H, HIDDEN, 0.0, activation, norm_first=norm_first).double()
    layer.load_state_dict(rename(twin.state_dict(), names))
    return layer, twin


def gradients(output, inputs, module, names=None):
    """By the inputs, then by the parameters in the order of our names."""
    parameters = dict(module.named_parameters())
    if names is not None:
        parameters = rename(parameters, names)
    wanted = [*inputs, *(parameters[name] for name in sorted(parameters))]
    seeds = torch.linspace(-1, 1, output.numel(), dtype=torch.double).view_as(output)
    return torch.autograd.grad((output * seeds).sum(), wanted)


def randn(*shape):
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


@styles
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_encoder_layer_equals_torch(parity, norm_first, activation, causal, recorded):
    layer, twin = pair(EncoderLayer, norm_first, activation)
    inputs = randn(B, S, D)
    if recorded:
        with record(layer):
            output = layer(inputs, mask=key_mask(REAL), causal=causal)
    else:
        output = layer(inputs, mask=key_mask(REAL), causal=causal)
    expected = twin(
        inputs,
        src_mask=~causal_mask(S) if causal else None,
        src_key_padding_mask=~REAL,
    )
    parity(
        f"EncoderLayer, {'explicit' if recorded else 'fused'}",
        f"nn.TransformerEncoderLayer, {'pre' if norm_first else 'post'}-norm, {activation}",
        ([output], [expected]),
        (
            gradients(output, [inputs], layer),
            gradients(expected, [inputs], twin, ENCODER_NAMES),
        ),
    )


@styles
@pytest.mark.parametrize("recorded", [False, True])
def test_decoder_layer_equals_torch(parity, norm_first, activation, recorded):
    layer, twin = pair(DecoderLayer, norm_first, activation)
    inputs, source = randn(B, T, D), randn(B, S, D)

    def run():
        return layer(
            inputs,
            layer.cross_attn.project(source),
            mask=key_mask(REAL_TARGET),
            memory_mask=key_mask(REAL),
        )

    if recorded:
        with record(layer):
            output = run()
    else:
        output = run()
    expected = twin(
        inputs,
        source,
        tgt_mask=~causal_mask(T),
        tgt_key_padding_mask=~REAL_TARGET,
        memory_key_padding_mask=~REAL,
    )
    parity(
        f"DecoderLayer, {'explicit' if recorded else 'fused'}",
        f"nn.TransformerDecoderLayer, {'pre' if norm_first else 'post'}-norm, {activation}",
        ([output], [expected]),
        (
            gradients(output, [inputs, source], layer),
            gradients(expected, [inputs, source], twin, DECODER_NAMES),
        ),
    )


@given(norm_first=st.booleans(), cut=st.integers(1, T - 1))
def test_cached_equals_uncached(norm_first, cut):
    layer, _ = pair(DecoderLayer, norm_first, "relu")
    inputs, source = randn(B, T, D), randn(B, S, D)
    memory, memory_mask = layer.cross_attn.project(source), key_mask(REAL)
    expected = layer(inputs, memory, memory_mask=memory_mask)
    first, past = layer.step(inputs[:, :cut], None, memory, memory_mask=memory_mask)
    second, past = layer.step(inputs[:, cut:], past, memory, memory_mask=memory_mask)
    torch.testing.assert_close(torch.cat([first, second], dim=1), expected)
    encoder, _ = pair(EncoderLayer, norm_first, "relu")
    first, past = encoder.step(inputs[:, :cut])
    second, past = encoder.step(inputs[:, cut:], past)
    torch.testing.assert_close(torch.cat([first, second], dim=1), encoder(inputs, causal=True))


@given(norm_first=st.booleans(), order=st.permutations(range(S)))
def test_the_source_is_a_set(norm_first, order):
    """Without positions an encoder layer follows any permutation, and cross-attention sees none."""
    encoder, _ = pair(EncoderLayer, norm_first, "relu")
    decoder, _ = pair(DecoderLayer, norm_first, "relu")
    source, target = randn(2, S, D), randn(2, T, D)
    torch.testing.assert_close(encoder(source[:, order]), encoder(source)[:, order])
    shuffled = decoder(target, decoder.cross_attn.project(source[:, order]))
    torch.testing.assert_close(shuffled, decoder(target, decoder.cross_attn.project(source)))


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_leaves_only_what_was_there(norm_first):
    layer = DecoderLayer(D, H, HIDDEN, 1.0, norm_first=norm_first).double()
    inputs = randn(B, T, D)
    output = layer(inputs, layer.cross_attn.project(randn(B, S, D)))
    expected = inputs
    if not norm_first:
        residuals = (layer.self_residual, layer.cross_residual, layer.feed_forward_residual)
        for residual in residuals:
            expected = residual.norm(expected)
    torch.testing.assert_close(output, expected)


def test_the_norm_can_be_chosen():
    layer = DecoderLayer(D, H, HIDDEN, norm="rms")
    norms = [module for name, module in layer.named_modules() if name.endswith("norm")]
    assert len(norms) == 3
    assert all(isinstance(norm, RMSNorm) for norm in norms)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: EncoderLayer(D, 4), ValueError, "num_heads must"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
