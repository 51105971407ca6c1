"""heads_off: a head that is off is one whose columns of the output projection are zero."""

import copy
import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.pairs import collate
from gates2heads.layers.attention.heads_off import Head, heads_of, heads_off
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import key_mask, length_mask
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer

B, T, S, H, K, V = 5, 7, 11, 3, 2, 13
D = H * K
REAL = key_mask(length_mask(torch.tensor([11, 1, 4, 7, 2])))


def attention(rotary=False):
    layer = MultiHeadAttention(D, H, rotary=rotary).double().eval()
    nn.init.normal_(layer.in_proj_bias)
    nn.init.normal_(layer.out_proj.bias)
    return layer


def without_columns(model, heads):
    """A copy of the model with zeros in the columns of these heads."""
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for name, head in heads:
            layer = twin.get_submodule(name)
            layer.out_proj.weight[:, head * K : (head + 1) * K] = 0
    return twin


def randn(*shape):
    return torch.randn(*shape, dtype=torch.double)


def extended(layer, inputs):
    """Incrementally: three positions, then one by one."""
    first, past = layer.extend(inputs[:, :3])
    parts = [first]
    for place in range(3, inputs.shape[1]):
        output, past = layer.extend(inputs[:, place : place + 1], past)
        parts.append(output)
    return torch.cat(parts, dim=1)


def read_by_two(layer, inputs):
    """Two queries in a row read one row of the memory."""
    memory = layer.project(inputs)
    return layer.attend(inputs.repeat_interleave(2, dim=0), memory, readers=2)


WAYS = {
    "forward": lambda layer, inputs: layer(inputs),
    "causal": lambda layer, inputs: layer(inputs, causal=True),
    "cross": lambda layer, inputs: layer(inputs[:, :T], inputs, mask=REAL),
    "readers": read_by_two,
    "step by step": extended,
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("off", [[1], [0, 2], [0, 1, 2], []])
@pytest.mark.parametrize("way", WAYS)
def test_a_head_off_is_zeroed_columns_on_every_path(parity, way, off, recorded):
    layer, inputs, run = attention(), randn(B, S, D).requires_grad_(), WAYS[way]
    heads = [("", head) for head in off]
    with heads_off(layer, heads):
        if recorded:
            with record(layer):
                output = run(layer, inputs)
        else:
            output = run(layer, inputs)
    expected = run(without_columns(layer, heads), inputs)
    seeds = torch.linspace(-1, 1, output.numel(), dtype=torch.double).view_as(output)
    gradients = [torch.autograd.grad((out * seeds).sum(), inputs) for out in (output, expected)]
    parity(
        f"heads_off, {way}, {off}", "zeroed columns of out_proj", ([output], [expected]), gradients
    )
    assert off == [] or not torch.allclose(output, run(layer, inputs))


@given(st.sets(st.integers(0, H - 1)), st.booleans(), st.integers(0, 2**31))
def test_any_heads_with_and_without_rotation(off, rotary, seed):
    torch.manual_seed(seed)
    layer, inputs = attention(rotary), randn(B, T, D)
    heads = [("", head) for head in off]
    with heads_off(layer, heads):
        whole, steps = layer(inputs, causal=True), extended(layer, inputs)
    expected = without_columns(layer, heads)(inputs, causal=True)
    torch.testing.assert_close(whole, expected)
    torch.testing.assert_close(steps, expected)


def test_by_hand():
    # Two heads of width 1, two positions, values as they come, no bias. Queries and keys are zero,
    # so each weight is 1/2: head 0 reads (1 + 3)/2 = 2, head 1 reads (5 + 9)/2 = 7. The projection
    # gives (head 0 + 10 · head 1, head 0 − head 1): (72, −5), and without head 1 (2, 2).
    layer = MultiHeadAttention(2, 2)
    with torch.no_grad():
        layer.in_proj_weight.zero_()
        layer.in_proj_weight[4:] = torch.eye(2)
        layer.out_proj.weight.copy_(torch.tensor([[1.0, 10.0], [1.0, -1.0]]))
    inputs = torch.tensor([[[1.0, 5.0], [3.0, 9.0]]])
    assert layer(inputs).tolist() == [[[72.0, -5.0]] * 2]
    with heads_off(layer, [("", 1)]):
        assert layer(inputs).tolist() == [[[2.0, 2.0]] * 2]
    with heads_off(layer, [("", 0)]):
        assert layer(inputs).tolist() == [[[70.0, -7.0]] * 2]
    assert layer(inputs).tolist() == [[[72.0, -5.0]] * 2]


def transformer(kind=Transformer, **options):
    return kind(V, V, d_model=D, nhead=H, dim_feedforward=17, **options).double().eval()


BATCH = collate([([3, 4, 12, 2], [5, 2]), ([3, 2], [5, 6, 7, 2])])


def stepped(model):
    """Log-probabilities of the batch's targets, one step after another."""
    state, rows = model.start(BATCH.source, mask=BATCH.source_mask), []
    for last in BATCH.target_in.unbind(dim=1):
        log_probs, state = model.step(state, last)
        rows.append(log_probs)
    return torch.stack(rows, dim=1)


@given(st.sets(st.sampled_from(heads_of(transformer()))), st.integers(0, 2**31))
def test_a_whole_transformer_forced_and_step_by_step(off, seed):
    torch.manual_seed(seed)
    model = transformer(rotary=True)
    twin = without_columns(model, off)
    with heads_off(model, off), torch.no_grad():
        forced, steps = model(BATCH), stepped(model)
    torch.testing.assert_close(forced, twin(BATCH))
    torch.testing.assert_close(steps, twin(BATCH).log_softmax(dim=-1))


def test_heads_of_lists_each_head_once():
    model = transformer(num_encoder_layers=1, num_decoder_layers=1)
    names = ["encoder_layers.0.self_attn", "decoder_layers.0.self_attn"]
    names.append("decoder_layers.0.cross_attn")
    assert heads_of(model) == [(name, head) for name in names for head in range(H)]
    assert heads_of(model)[4] == Head(layer=names[1], head=1)
    assert heads_of(nn.MultiheadAttention(D, H)) == []


def test_a_layer_that_is_applied_again_and_again_is_off_each_time():
    model = transformer(UniversalTransformer)
    off = heads_of(model)[:2]
    with heads_off(model, off), torch.no_grad():
        output = model(BATCH)
    torch.testing.assert_close(output, without_columns(model, off)(BATCH))


def test_weights_are_noted_as_ever():
    layer, inputs = attention(), randn(B, T, D)
    with record(layer) as whole:
        layer(inputs)
    with heads_off(layer, [("", 0)]), record(layer) as trace:
        layer(inputs)
    assert torch.equal(trace.joined("", "weights"), whole.joined("", "weights"))


def test_what_a_head_without_columns_reads_gets_no_gradient():
    layer, inputs = attention(), randn(B, T, D)
    with heads_off(layer, [("", 1)]):
        layer(inputs).square().sum().backward()
    columns = layer.out_proj.weight.grad.view(D, H, K)
    rows = layer.in_proj_weight.grad.view(3, H, K, D)
    assert not columns[:, 1].any()
    assert not rows[:, 1].any()
    assert columns[:, [0, 2]].all()
    assert rows[:, [0, 2]].any(dim=(-1, -2)).all()


def saved(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return file.getvalue()


def test_all_is_as_before_also_after_an_error_and_in_blocks_within_blocks():
    layer, inputs = attention(), randn(B, T, D)
    whole, weights = layer(inputs), saved(layer)

    def off(*heads):
        return without_columns(layer, [("", head) for head in heads])(inputs)

    with heads_off(layer, [("", 0), ("", 0)]):
        assert saved(layer) == weights
        torch.testing.assert_close(layer(inputs), off(0))
        with heads_off(nn.Sequential(layer), iter([("0", 2)])):
            torch.testing.assert_close(layer(inputs), off(0, 2))
        torch.testing.assert_close(layer(inputs), off(0))
        with pytest.raises(ZeroDivisionError), heads_off(layer, [["", 1]]):
            raise ZeroDivisionError
        torch.testing.assert_close(layer(inputs), off(0))
    assert torch.equal(layer(inputs), whole)
    assert not layer.out_proj._forward_pre_hooks
    assert saved(layer) == weights


def test_a_copy_is_whole():
    layer, inputs = attention(), randn(B, T, D)
    whole = layer(inputs)
    with heads_off(layer, [("", 0)]):
        twin = copy.deepcopy(layer)
        assert torch.equal(twin(inputs), whole)
        assert not torch.equal(layer(inputs), whole)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_half(dtype):
    layer, inputs = attention().to(dtype), randn(B, T, D).to(dtype)
    with heads_off(layer, [("", 0)]):
        output = layer(inputs)
    assert output.dtype == dtype
    assert not torch.equal(output, layer(inputs))


@pytest.mark.parametrize(
    ("heads", "kind", "sentence"),
    [
        (
            [("encoder_layers.0.self_attn",)],
            TypeError,
            "heads must",
        ),
        (
            [("0", True)],
            TypeError,
            "heads must",
        ),
        ([("1", 0)], ValueError, "heads must"),
        ([("0", 3)], ValueError, "heads of '0' must have numbers from 0 to 2, got 3"),
        ([("0", 0), ("0", -1)], ValueError, "heads of '0' must have numbers from 0 to 2, got -1"),
    ],
)
def test_refuses_heads_that_are_not_there_and_switches_nothing(heads, kind, sentence):
    model = nn.Sequential(attention())
    with pytest.raises(kind) as caught, heads_off(model, heads):
        pass
    assert str(caught.value).startswith(sentence)
    assert not model[0].out_proj._forward_pre_hooks


def test_refuses_what_has_no_heads():
    with pytest.raises(ValueError, match="model has, no layer of attention in heads; got '0'"):
        heads_off(nn.Linear(1, 1), [("0", 0)]).__enter__()
    for call in (heads_of, lambda model: heads_off(model, []).__enter__()):
        with pytest.raises(TypeError, match="model must"):
            call("a model")
