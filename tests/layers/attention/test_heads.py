"""Attention in heads written out, and that every faster path of the layer gives the same."""

import math
from contextlib import nullcontext
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.layers.attention.heads import join_heads, scaled_dot, split_heads
from gates2heads.layers.attention.kernels import fused
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import causal_mask, length_mask
from gates2heads.layers.record import record

B, T, S, H, K, D = 5, 7, 11, 3, 2, 13
WIDTH = H * K
SEEDS = st.integers(0, 2**31)


def randn(*shape, seed=7):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.double, generator=generator, requires_grad=True)


def test_split_and_join_by_hand():
    # Two positions of width 6, three heads: the first head has the first two numbers of each.
    vectors = torch.arange(12).view(1, 2, 6)
    heads = [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    assert split_heads(vectors, 3).tolist() == [heads]
    assert join_heads(torch.tensor([heads])).tolist() == vectors.tolist()


@given(batch=st.integers(0, 3), length=st.integers(0, 5), heads=st.integers(1, 5), seed=SEEDS)
def test_join_undoes_split(batch, length, heads, seed):
    vectors = randn(batch, length, heads * K, seed=seed)
    pieces = split_heads(vectors, heads)
    assert pieces.shape == (batch, heads, length, K)
    assert torch.equal(join_heads(pieces), vectors)
    for head in range(heads):
        assert torch.equal(pieces[:, head], vectors[..., head * K : (head + 1) * K])


def test_scaled_dot_by_hand():
    # K = 4, so √K = 2. Scores 2 ln 3 / 2 = ln 3 and 0: weights 3/4 and 1/4, context 3/4 · 8.
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[math.log(3), 1.0, 0.0, 0.0], [0.0, 0.0, 5.0, 0.0]])
    context, weights = scaled_dot(query, key, torch.tensor([[8.0], [0.0]]))
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.25]]))
    torch.testing.assert_close(context, torch.tensor([[6.0]]))


MASKS = {
    "none": None,
    "padding": length_mask(torch.tensor([11, 1, 4, 7, 2]))[:, None, None],
    "window": causal_mask(T, S),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("kernel", ["torch", "fused"])
def test_scaled_dot_equals_the_kernel(parity, name, kernel):
    inputs = [randn(B, H, T, K), randn(B, H, S, K, seed=3), randn(B, H, S, D, seed=5)]
    context, weights = scaled_dot(*inputs, mask=MASKS[name])
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T).double())
    if kernel == "torch":
        expected = F.scaled_dot_product_attention(*inputs, attn_mask=MASKS[name])
    else:
        expected = fused(*inputs, mask=MASKS[name])
    seeds = torch.linspace(-1, 1, context.numel(), dtype=torch.double).view_as(context)
    parity(
        "scaled_dot",
        "F.scaled_dot_product_attention" if kernel == "torch" else "kernels.fused",
        ([context], [expected]),
        tuple(torch.autograd.grad((out * seeds).sum(), inputs) for out in (context, expected)),
    )


@given(seed=SEEDS, axes=st.lists(st.integers(1, 3), max_size=3))
def test_scaled_dot_takes_each_head_by_itself(seed, axes):
    query, key, value = randn(*axes, T, K, seed=seed), randn(*axes, S, K), randn(*axes, S, D)
    context, weights = scaled_dot(query, key, value)
    for at in product(*map(range, axes)):
        alone = scaled_dot(query[at], key[at], value[at])
        torch.testing.assert_close((context[at], weights[at]), alone)


def written_out(layer, query, memory, mask):
    """Attention in heads from the three functions that a page shows, and nothing else."""
    weight, bias = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    inputs = zip((query, memory, memory), weight, bias, strict=True)
    heads = [split_heads(F.linear(*part), layer.num_heads) for part in inputs]
    context, _ = scaled_dot(*heads, mask=mask)
    return layer.out_proj(join_heads(context))


def layer_with_biases():
    torch.manual_seed(11)
    layer = MultiHeadAttention(WIDTH, H).double()
    torch.nn.init.normal_(layer.in_proj_bias)
    torch.nn.init.normal_(layer.out_proj.bias)
    return layer


@settings(max_examples=40)
@given(
    seed=SEEDS,
    masked=st.booleans(),
    recorded=st.booleans(),
    path=st.sampled_from(["together", "projected", "pair", "self", "extended"]),
    readers=st.sampled_from([1, 3]),
)
def test_no_path_of_the_layer_changes_what_the_functions_give(
    seed, masked, recorded, path, readers
):
    layer = layer_with_biases()
    query, memory = randn(B * readers, T, WIDTH, seed=seed), randn(B, S, WIDTH)
    mask = MASKS["padding"] if masked else None
    if path in ("self", "extended"):
        wanted = written_out(layer, query, query, causal_mask(T))
    else:
        spread = memory.repeat_interleave(readers, dim=0)
        given_mask = mask if mask is None else mask.repeat_interleave(readers, dim=0)
        wanted = written_out(layer, query, spread, given_mask)
    with record(layer) if recorded else nullcontext():
        if path == "together":
            found = layer(query, spread, mask=given_mask)
        elif path == "pair":
            found = layer(query, spread, spread.clone(), mask=given_mask)
        elif path == "projected":
            found = layer.attend(query, layer.project(memory), mask=mask, readers=readers)
        elif path == "self":
            found = layer(query, causal=True)
        else:
            first, past = layer.extend(query[:, :4])
            order = torch.arange(len(query)).flip(0)
            second, _ = layer.extend(query[:, 4:].flip(0), past, order=order)
            found = torch.cat([first, second.flip(0)], dim=1)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-13)


def test_dropout_hides_what_the_weights_show():
    query, key, value = randn(T, K), randn(S, K), randn(S, D)
    context, weights = scaled_dot(query, key, value, dropout=1.0)
    assert not context.any()
    torch.testing.assert_close(weights.sum(-1), torch.ones(T).double())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: split_heads(torch.zeros(B, S, 6), 4), ValueError, "num_heads must"),
    ],
)  # fmt: skip
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
