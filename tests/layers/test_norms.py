"""LayerNorm, RMSNorm and BatchNorm beside their twins in torch.nn."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.masks import length_mask
from gates2heads.layers.norms import BatchNorm, LayerNorm, RMSNorm
from gates2heads.layers.record import record

B, S, D = 5, 7, 11
MASK = length_mask(torch.tensor([7, 1, 4, 2, 5]))


def pair(ours, theirs, *options):
    layer, twin = ours(D, *options).double(), theirs(D, *options).double()
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.normal_()
    layer.load_state_dict(twin.state_dict())
    return layer, twin


def gradients(output, inputs, module):
    seeds = torch.linspace(-1, 1, output.numel(), dtype=torch.double).view_as(output)
    return torch.autograd.grad((output * seeds).sum(), [inputs, *module.parameters()])


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize(("ours", "theirs"), [(LayerNorm, nn.LayerNorm), (RMSNorm, nn.RMSNorm)])
def test_equals_torch(parity, ours, theirs, eps, recorded):
    layer, twin = pair(ours, theirs, eps)
    inputs = (torch.randn(B, S, D) * 3 + 2).double().requires_grad_()
    if recorded:
        with record(layer) as trace:
            output = layer(inputs)
        assert trace.joined("", "deviation").shape == (B, S, 1)
    else:
        output = layer(inputs)
    expected = twin(inputs)
    parity(
        f"{ours.__name__}, {'explicit' if recorded else 'fused'}",
        f"nn.{theirs.__name__}",
        ([output], [expected]),
        (gradients(output, inputs, layer), gradients(expected, inputs, twin)),
    )


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_batch_norm_equals_torch(parity, training, masked):
    """The twin sees the features before the time axis, and with a mask the real tokens alone."""
    layer, twin = pair(BatchNorm, nn.BatchNorm1d)
    for _ in range(3):  # the averages for evaluation move along
        inputs = (torch.randn(B, S, D) * 3 + 2).double().requires_grad_()
        if masked:
            output, expected = layer(inputs, mask=MASK)[MASK], twin(inputs[MASK])
        else:
            output, expected = layer(inputs), twin(inputs.transpose(1, 2)).transpose(1, 2)
    if not training:
        layer.eval()
        twin.eval()
        inputs = torch.randn(B, S, D, dtype=torch.double, requires_grad=True)
        output, expected = layer(inputs, mask=MASK)[MASK], twin(inputs[MASK])
    for name, buffer in layer.named_buffers():
        torch.testing.assert_close(buffer, twin.get_buffer(name))
    parity(
        f"BatchNorm, {'masked' if masked else 'unmasked'}",
        "nn.BatchNorm1d",
        ([output], [expected]),
        (gradients(output, inputs, layer), gradients(expected, inputs, twin)),
    )


def test_layer_norm_by_hand():
    # (1, 3, 5): mean 3, variance (4 + 0 + 4)/3 = 8/3
    output = LayerNorm(3)(torch.tensor([[1.0, 3.0, 5.0]]))
    end = 2 / math.sqrt(8 / 3)
    torch.testing.assert_close(output, torch.tensor([[-end, 0.0, end]]), atol=1e-5, rtol=0)


def test_rms_norm_by_hand():
    # (1, −1, 5): mean square 27/3 = 9
    output = RMSNorm(3)(torch.tensor([1.0, -1.0, 5.0]))
    torch.testing.assert_close(output, torch.tensor([1 / 3, -1 / 3, 5 / 3]))


def test_batch_norm_by_hand():
    # One feature; real tokens 1, 3, 5 in two sentences, and padding 99: as in LayerNorm above,
    # but across tokens.
    vectors = torch.tensor([[[1.0], [3.0]], [[5.0], [99.0]]])
    mask = torch.tensor([[True, True], [True, False]])
    output = BatchNorm(1)(vectors, mask=mask)[mask]
    end = 2 / math.sqrt(8 / 3)
    torch.testing.assert_close(output[:, 0], torch.tensor([-end, 0.0, end]), atol=1e-5, rtol=0)


@given(scale=st.floats(0.5, 20), shift=st.floats(-9, 9))
def test_what_each_norm_ignores(scale, shift):
    vectors = torch.randn(B, S, D, dtype=torch.double)
    layer, rms = LayerNorm(D, 1e-12).double(), RMSNorm(D, 1e-12).double()
    torch.testing.assert_close(layer(vectors * scale + shift), layer(vectors))
    torch.testing.assert_close(rms(vectors * scale), rms(vectors))
    assert not torch.allclose(rms(vectors + 10), rms(vectors))


@given(seed=st.integers(0, 10**6))
def test_who_sees_whom(seed):
    """LayerNorm sees one token; BatchNorm sees every real token of the batch, and no padding."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(B, S, D, generator=generator)
    changed = vectors.clone()
    changed[2, 1] += 1 + torch.rand(D, generator=generator)
    moved = (LayerNorm(D)(vectors) != LayerNorm(D)(changed)).any(-1)
    assert moved.nonzero().tolist() in ([], [[2, 1]])
    one, two = (BatchNorm(D)(given, mask=MASK) for given in (vectors, changed))
    assert (one != two).any(-1)[MASK].all()
    padded = vectors.masked_fill(~MASK[..., None], 1e6)
    torch.testing.assert_close(BatchNorm(D)(padded, mask=MASK)[MASK], one[MASK])


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm, BatchNorm])
def test_bad_sizes(norm):
    with pytest.raises(ValueError, match="size must"):
        norm(0)
    with pytest.raises(ValueError, match="eps must"):
        norm(D, 0)


def test_bad_batches():
    with pytest.raises(ValueError, match="must hold at least 2 real tokens while training, got 1"):
        BatchNorm(D)(torch.zeros(1, 2, D), mask=torch.tensor([[True, False]]))
    single = torch.randn(1, 1, D)
    torch.testing.assert_close(BatchNorm(D).eval()(single), single, atol=1e-4, rtol=1e-4)
