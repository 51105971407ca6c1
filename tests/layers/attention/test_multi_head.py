"""Multi-head attention beside torch.nn.MultiheadAttention, and the paths it chooses between."""

import math
from contextlib import nullcontext
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.attention import kernels
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.attention.self_attention import self_attention
from gates2heads.layers.masks import causal_mask, key_mask, length_mask
from gates2heads.layers.positions import rotate
from gates2heads.layers.record import record

B, T, S, H, K = 5, 7, 11, 3, 2
D = H * K
REAL = length_mask(torch.tensor([11, 1, 4, 7, 2]))  # (B, S)
REAL_QUERIES = length_mask(torch.tensor([7, 1, 4, 5, 2]))  # (B, T)
BAND = torch.ones(T, S, dtype=torch.bool).tril(1)  # every row sees the first position


def pair():
    layer = MultiHeadAttention(D, H).double()
    twin = nn.MultiheadAttention(D, H, batch_first=True).double()
    with torch.no_grad():
        twin.in_proj_bias.normal_()  # zero at first, which would hide an error
        twin.out_proj.bias.normal_()
    layer.load_state_dict(twin.state_dict())
    return layer, twin


def randn(*shape):
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


def gradients(output, inputs, module):
    seeds = torch.linspace(-1, 1, output.numel(), dtype=torch.double).view_as(output)
    return torch.autograd.grad((output * seeds).sum(), [*inputs, *module.parameters()])


MASKS = {
    "no mask": (None, {}),
    "padding": (key_mask(REAL), {"key_padding_mask": ~REAL}),
    "window": (causal_mask(T, S), {"attn_mask": ~causal_mask(T, S)}),
    "padding and window": (
        key_mask(REAL) & BAND,
        {"key_padding_mask": ~REAL, "attn_mask": ~BAND},
    ),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("recorded", [False, True])
def test_cross_attention_equals_torch(parity, name, recorded):
    layer, twin = pair()
    mask, options = MASKS[name]
    inputs = [randn(B, T, D), randn(B, S, D), randn(B, S, D)]
    if recorded:
        with record(layer) as trace:
            output = layer(*inputs, mask=mask)
    else:
        output = layer(*inputs, mask=mask)
    expected, weights = twin(*inputs, average_attn_weights=False, **options)
    parity(
        f"MultiHeadAttention, {'explicit' if recorded else 'fused'}",
        f"nn.MultiheadAttention, cross, {name}",
        ([output], [expected]),
        (gradients(output, inputs, layer), gradients(expected, inputs, twin)),
    )
    if recorded:
        torch.testing.assert_close(trace.joined("", "weights"), weights)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_self_attention_equals_torch(parity, causal, padded, recorded):
    layer, twin = pair()
    inputs = randn(B, T, D)
    mask = key_mask(REAL_QUERIES) if padded else None
    if recorded:
        with record(layer):
            output = layer(inputs, mask=mask, causal=causal)
    else:
        output = layer(inputs, mask=mask, causal=causal)
    expected, _ = twin(
        inputs,
        inputs,
        inputs,
        key_padding_mask=~REAL_QUERIES if padded else None,
        attn_mask=~causal_mask(T) if causal else None,
        need_weights=False,
    )
    parity(
        f"MultiHeadAttention, {'explicit' if recorded else 'fused'}",
        f"nn.MultiheadAttention, self, causal {causal}, padded {padded}",
        ([output], [expected]),
        (gradients(output, [inputs], layer), gradients(expected, [inputs], twin)),
    )


def test_one_mask_a_head_equals_torch(parity):
    layer, twin = pair()
    inputs = [randn(B, T, D), randn(B, S, D)]
    mask = torch.rand(B, H, T, S) < 0.5
    mask[..., 3] = True  # each row sees something
    output = layer(*inputs, mask=mask)
    query, memory = inputs
    expected, _ = twin(query, memory, memory, attn_mask=~mask.flatten(0, 1), need_weights=False)
    parity(
        "MultiHeadAttention, fused",
        "nn.MultiheadAttention, one mask a head",
        ([output], [expected]),
        (gradients(output, inputs, layer), gradients(expected, inputs, twin)),
    )


def test_heads_equal_scaled_dot_product_attention(parity):
    """With the projections left out, what remains is the kernel, head by head."""
    layer = MultiHeadAttention(D, H).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(D).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(D))
    query, key, value = randn(B, T, D), randn(B, S, D), randn(B, S, D)
    heads = [tensor.unflatten(-1, (H, K)).transpose(1, 2) for tensor in (query, key, value)]
    expected = F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
    with record(layer):
        output = layer(query, key, value)
    wanted = [query, key, value]
    parity(
        "MultiHeadAttention, explicit",
        "F.scaled_dot_product_attention",
        ([output], [expected]),
        (
            torch.autograd.grad(output.square().sum(), wanted),
            torch.autograd.grad(expected.square().sum(), wanted),
        ),
    )


def test_by_hand():
    # Two heads of width 1, two positions, no projection. Head 0 holds (0, ln 3), head 1 (1, 1).
    # Head 0, query ln 3: scores 0 and (ln 3)², so weights 1/(1+e) and e/(1+e), e = exp((ln 3)²).
    # Head 1: equal scores, weights ½ and ½.
    layer = MultiHeadAttention(2, 2)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(2))
    ln3 = math.log(3)
    odds = math.exp(ln3**2)
    with record(layer) as trace:
        output = layer(torch.tensor([[[0.0, 1.0], [ln3, 1.0]]]))
    weights = [[[[0.5, 0.5], [1 / (1 + odds), odds / (1 + odds)]], [[0.5, 0.5], [0.5, 0.5]]]]
    torch.testing.assert_close(trace.joined("", "weights"), torch.tensor(weights))
    expected = torch.tensor([[[ln3 / 2, 1.0], [ln3 * odds / (1 + odds), 1.0]]])
    torch.testing.assert_close(output, expected)


def test_self_attention_without_parameters():
    # X = [[0], [ln 2]]: row 0 scores 0, 0; row 1 scores 0 and (ln 2)².
    ln2 = math.log(2)
    share = math.exp(ln2**2) / (1 + math.exp(ln2**2))
    context, weights = self_attention(torch.tensor([[[0.0], [ln2]]]))
    torch.testing.assert_close(weights, torch.tensor([[[0.5, 0.5], [1 - share, share]]]))
    torch.testing.assert_close(context, torch.tensor([[[ln2 / 2], [share * ln2]]]))


def test_self_attention_without_parameters_equals_the_kernel(parity):
    inputs = randn(B, S, D)
    context, _ = self_attention(inputs, mask=REAL[:, None])
    expected = F.scaled_dot_product_attention(
        inputs, inputs, inputs, attn_mask=REAL[:, None], scale=1.0
    )
    parity(
        "self_attention",
        "F.scaled_dot_product_attention, scale 1",
        ([context], [expected]),
        (
            torch.autograd.grad(context.square().sum(), inputs),
            torch.autograd.grad(expected.square().sum(), inputs),
        ),
    )


@given(order=st.permutations(range(T)))
def test_order_blindness(order):
    """Permute the positions and the output is permuted, nothing else: equivariance."""
    layer, _ = pair()
    inputs = torch.randn(2, T, D, dtype=torch.double)
    order = torch.tensor(order)
    torch.testing.assert_close(layer(inputs[:, order]), layer(inputs)[:, order])
    torch.testing.assert_close(
        self_attention(inputs[:, order])[0], self_attention(inputs)[0][:, order]
    )


@given(step=st.integers(0, T - 1), recorded=st.booleans(), padded=st.booleans())
def test_causality(step, recorded, padded):
    layer, _ = pair()
    inputs = torch.randn(B, T, D, dtype=torch.double)
    changed = inputs.clone()
    changed[:, step] += 1
    mask = key_mask(REAL_QUERIES) if padded else None

    def run(vectors):
        if not recorded:
            return layer(vectors, mask=mask, causal=True)
        with record(layer):
            return layer(vectors, mask=mask, causal=True)

    moved = (run(inputs) - run(changed)).abs().amax((0, 2)) > 1e-12
    assert not moved[:step].any()
    assert moved[step]


@given(length=st.integers(1, 6), padding=st.integers(0, 5), recorded=st.booleans())
def test_padding_changes_nothing(length, padding, recorded):
    layer, _ = pair()
    query, memory = torch.randn(2, T, D).double(), torch.randn(2, length, D).double()
    padded = torch.cat([memory, torch.full((2, padding, D), 1e3).double()], dim=1)
    mask = key_mask(length_mask(torch.tensor([length, length]), length + padding))
    expected = layer(query, memory)
    if recorded:
        with record(layer):
            torch.testing.assert_close(layer(query, padded, mask=mask), expected)
    else:
        torch.testing.assert_close(layer(query, padded, mask=mask), expected)


@settings(max_examples=20)
@given(cuts=st.sets(st.integers(1, T - 1)))
def test_cached_equals_uncached(cuts):
    layer, _ = pair()
    inputs = torch.randn(B, T, D, dtype=torch.double)
    expected = layer(inputs, causal=True)
    past, pieces = None, []
    edges = [0, *sorted(cuts), T]
    for begin, end in pairwise(edges):
        output, past = layer.extend(inputs[:, begin:end], past)
        pieces.append(output)
    torch.testing.assert_close(torch.cat(pieces, dim=1), expected)
    assert past.keys.shape == past.values.shape == (B, H, T, K)


def rotary_layer():
    layer, _ = pair()
    layer.rotary = True  # no parameter of its own
    return layer


def test_the_constructor_turns():
    plain, _ = pair()
    layer = MultiHeadAttention(D, H, rotary=True).double()
    layer.load_state_dict(plain.state_dict())
    inputs = torch.randn(B, T, D, dtype=torch.double)
    turned = layer(inputs)
    assert not torch.allclose(turned, plain(inputs))
    plain.rotary = True
    torch.testing.assert_close(turned, plain(inputs))


def test_rotary_attention_in_a_loop():
    """Each head: the queries and keys of its K dimensions are turned, the values are not."""
    layer, inputs = rotary_layer(), torch.randn(B, T, D, dtype=torch.double)
    projected = (inputs @ layer.in_proj_weight.T + layer.in_proj_bias).split(D, dim=-1)
    heads = []
    for head in range(H):
        query, key, value = (part[..., head * K : (head + 1) * K] for part in projected)
        query, key = (rotate(part[:, None])[:, 0] for part in (query, key))
        heads.append((query @ key.transpose(1, 2) / math.sqrt(K)).softmax(-1) @ value)
    torch.testing.assert_close(layer(inputs), layer.out_proj(torch.cat(heads, dim=-1)))


@given(before=st.integers(1, 9))
def test_rotary_attention_knows_only_distances(before):
    """What stands before and is masked moves all positions, and changes nothing."""
    layer, inputs = rotary_layer(), torch.randn(2, T, D, dtype=torch.double)
    longer = torch.cat([torch.randn(2, before, D).double(), inputs], dim=1)
    mask = (torch.arange(before + T) >= before)[None, None, None]
    moved = layer(longer, mask=mask)[:, before:]
    torch.testing.assert_close(moved, layer(inputs), atol=1e-5, rtol=0)


@settings(max_examples=20)
@given(cuts=st.sets(st.integers(1, T - 1)))
def test_rotary_attention_goes_on_where_its_past_ends(cuts):
    layer, inputs = rotary_layer(), torch.randn(B, T, D, dtype=torch.double)
    past, pieces = None, []
    for begin, end in pairwise([0, *sorted(cuts), T]):
        output, past = layer.extend(inputs[:, begin:end], past)
        pieces.append(output)
    torch.testing.assert_close(torch.cat(pieces, dim=1), layer(inputs, causal=True))


def test_rotary_attention_reads_itself_alone():
    layer, inputs = rotary_layer(), torch.randn(B, T, D, dtype=torch.double)
    for call in (layer, layer.project):
        with pytest.raises(ValueError, match="key must"):
            call(inputs, inputs)
    _, past = layer.extend(inputs)
    with pytest.raises(ValueError, match="memory must"):
        layer.attend(inputs, past)


@pytest.mark.parametrize("recorded", [False, True])
def test_projected_once_equals_projected_each_time(recorded):
    layer, _ = pair()
    query, memory = torch.randn(B, T, D).double(), torch.randn(B, S, D).double()
    mask = key_mask(REAL)
    expected = layer(query, memory, mask=mask)
    projected = layer.project(memory)
    if recorded:
        with record(layer):
            output = layer.attend(query, projected, mask=mask)
    else:
        output = layer.attend(query, projected, mask=mask)
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_row_that_may_attend_to_nothing_is_zero(recorded):
    layer, _ = pair()
    query, memory = randn(B, T, D), randn(B, S, D)
    mask = torch.ones(B, 1, T, S, dtype=torch.bool)
    mask[2, :, 4] = False
    mask[3] = False
    if recorded:
        with record(layer) as trace:
            output = layer(query, memory, mask=mask)
        assert (trace.joined("", "weights")[2, :, 4] == 0).all()
    else:
        output = layer(query, memory, mask=mask)
    torch.testing.assert_close(output[2, 4], layer.out_proj.bias)
    torch.testing.assert_close(output[3], layer.out_proj.bias.expand(T, D))
    for gradient in gradients(output, [query, memory], layer):
        assert gradient.isfinite().all()


def test_no_kernel_is_given_a_row_without_a_key(monkeypatch):
    """Some kernels and older versions answer NaN to such a row; this one may not."""
    masks = []

    def spy(*tensors, attn_mask, **options):
        masks.append(attn_mask)
        return kernel(*tensors, attn_mask=attn_mask, **options)

    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    layer, _ = pair()
    layer(randn(B, T, D), randn(B, S, D), mask=torch.zeros(B, 1, 1, S, dtype=torch.bool))
    (mask,) = masks
    assert mask.any(dim=-1).all()


def test_the_explicit_path_is_taken_where_it_was_measured_to_be_faster():
    query = torch.zeros(1, H, T, K, requires_grad=True)
    short, long = kernels.SHORT, kernels.SHORT + 1
    assert kernels.explicit_is_faster(query.bfloat16(), short)
    assert not kernels.explicit_is_faster(query.bfloat16(), long)
    assert not kernels.explicit_is_faster(query, short)
    assert not kernels.explicit_is_faster(query.detach().bfloat16(), short)


@pytest.mark.parametrize("causal", [False, True])
def test_half_precision(causal):
    layer = MultiHeadAttention(D, H)
    inputs = torch.randn(B, T, D)
    with torch.autocast("cpu", torch.bfloat16):
        trained = layer(inputs, mask=key_mask(REAL_QUERIES), causal=causal)
        with torch.no_grad():
            fused = layer(inputs, mask=key_mask(REAL_QUERIES), causal=causal)
    expected = layer(inputs, mask=key_mask(REAL_QUERIES), causal=causal)
    for output in (trained, fused):
        torch.testing.assert_close(output.float(), expected, atol=0.03, rtol=0.03)


@pytest.mark.parametrize("recorded", [False, True])
def test_dropout_hides_weights_while_training(recorded):
    layer = MultiHeadAttention(D, H, dropout=1.0).double()
    inputs = torch.randn(B, T, D, dtype=torch.double)
    if recorded:
        with record(layer):
            output = layer(inputs)
    else:
        output = layer(inputs)
    torch.testing.assert_close(output, layer.out_proj.bias.expand(B, T, D))
    assert not torch.allclose(layer.eval()(inputs), output)


def test_two_dimensional_parameters_start_as_in_torch():
    torch.manual_seed(2)
    layer = MultiHeadAttention(31, 31)
    bound = math.sqrt(6 / (4 * 31))  # Xavier, for a matrix of 31 columns and 3 · 31 rows
    assert layer.in_proj_weight.abs().max() <= bound
    assert layer.in_proj_weight.abs().max() > 0.95 * bound
    assert not layer.in_proj_bias.any()
    assert not layer.out_proj.bias.any()


MEMORY = torch.zeros(B, S, D)


@pytest.mark.parametrize(
    ("sizes", "options", "error", "message"),
    [
        ((D, 4), {}, ValueError, "num_heads must"),
        ((D, 2), {"rotary": True}, ValueError, "rotary needs heads of an even width, got 3 dimens"),
    ],
)
def test_bad_sizes(sizes, options, error, message):
    with pytest.raises(error, match=message):
        MultiHeadAttention(*sizes, **options)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("length", [1, T])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_together_equals_one_by_one(recorded, length, masked, causal):
    """Three rows read each row of the memory; outputs, gradients and noted weights are as alone."""
    layer, _ = pair()
    readers, mask = 3, key_mask(REAL) if masked else None
    inputs = [randn(B * readers, length, D), randn(B, S, D)]

    def attend(times, share):
        memory = layer.project(inputs[1].repeat_interleave(times, dim=0))
        given = mask if mask is None else mask.repeat_interleave(times, dim=0)
        return layer.attend(inputs[0], memory, mask=given, causal=causal, readers=share)

    with record(layer) if recorded else nullcontext() as trace:
        together, alone = attend(1, readers), attend(readers, 1)
    torch.testing.assert_close(together, alone)
    results = [gradients(output, inputs, layer) for output in (together, alone)]
    torch.testing.assert_close(*results)
    if recorded:
        first, second = trace[""]["weights"]
        assert first.shape == (B * readers, H, length, S)
        torch.testing.assert_close(first, second)


@pytest.mark.parametrize("graph", [False, True])
@given(order=st.lists(st.integers(0, B - 1), min_size=1, max_size=2 * B), seen=st.integers(0, 4))
def test_ordered_while_appended_equals_ordered_before(graph, order, seen):
    layer, _ = pair()
    order = torch.tensor(order)
    with torch.set_grad_enabled(graph):
        memory = layer.project(torch.randn(B, S, D).double())
        past = KeyValues(*(part[:, :, :seen] for part in memory))
        inputs = torch.randn(len(order), T, D).double()
        output, longer = layer.extend(inputs, past, order=order)
        ordered = KeyValues(*(part[order] for part in past))
        expected, expected_longer = layer.extend(inputs, ordered)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(longer, expected_longer)


@pytest.mark.parametrize(
    ("readers", "message"),
    [
        (2, "readers must"),
    ],
)
def test_bad_readers(readers, message):
    memory = KeyValues(*[torch.zeros(B, H, S, K)] * 2)
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(D, H).attend(torch.zeros(B, T, D), memory, readers=readers)


def test_a_memory_of_another_batch_is_refused():
    memory = KeyValues(*[torch.zeros(B, H, S, K)] * 2)
    with pytest.raises(ValueError, match=r"^memory must"):
        MultiHeadAttention(D, H).attend(torch.zeros(2, T, D), memory)
    with pytest.raises(ValueError, match=r"^past must"):
        MultiHeadAttention(D, H).extend(torch.zeros(2, T, D), memory)


def test_a_value_needs_its_key():
    with pytest.raises(ValueError, match=r"^key must"):
        MultiHeadAttention(D, H)(torch.zeros(B, T, D), value=MEMORY)
