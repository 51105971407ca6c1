"""Position vectors: by hand, beside the paper's formula in a loop, added and concatenated."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.positions import (
    LearnedPositions,
    Positions,
    SinusoidalPositions,
    alibi_bias,
    alibi_slopes,
    rotate,
    sinusoids,
)

B, L, D, P = 3, 7, 11, 5


@pytest.mark.parametrize("size", [6, 11])
def test_the_papers_formula_in_a_loop(size):
    table = sinusoids(torch.arange(L), size)
    assert table.shape == (L, size)
    for position in range(L):
        for dim in range(size):
            angle = position / 10000 ** (2 * (dim // 2) / size)
            expected = math.cos(angle) if dim % 2 else math.sin(angle)
            assert table[position, dim].item() == pytest.approx(expected, abs=1e-6)


def test_by_hand():
    # D = 4: the rates are 1 and 1/100. Position 0: sines 0, cosines 1.
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    torch.testing.assert_close(sinusoids(torch.arange(2), 4), torch.tensor(expected))


@given(first=st.integers(0, 50), second=st.integers(0, 50), shift=st.integers(0, 50))
def test_the_inner_product_knows_only_the_distance(first, second, shift):
    """sin a sin b + cos a cos b = cos(a − b): moving both positions changes nothing."""
    one, two = sinusoids(torch.tensor([first, second]), 8)
    three, four = sinusoids(torch.tensor([first + shift, second + shift]), 8)
    torch.testing.assert_close(one @ two, three @ four, atol=1e-4, rtol=0)
    assert (one @ one).item() == pytest.approx(4, abs=1e-4)


FAR = [0, 1, 4095, 99_999, 10**6 + 1]


def exact_waves(positions, size):
    """The formula in a loop, by Python's own sines; the angles are exact to the last bit or so."""
    angles = [[p / 10000.0 ** (2 * (dim // 2) / size) for dim in range(size)] for p in positions]
    waves = [
        [math.cos(angle) if dim % 2 else math.sin(angle) for dim, angle in enumerate(row)]
        for row in angles
    ]
    return torch.tensor(waves, dtype=torch.double)


def test_far_positions_are_exact_in_double_and_rounded_once_in_single():
    expected = exact_waves(FAR, D)
    double = sinusoids(torch.tensor(FAR).double(), D)
    assert double.dtype == torch.double
    torch.testing.assert_close(double, expected, atol=1e-9, rtol=0)  # 1e6 × 2^-53 is 1e-10
    single = sinusoids(torch.tensor(FAR), D)
    assert single.dtype == torch.float
    torch.testing.assert_close(single, expected.float(), atol=1e-7, rtol=0)
    for dtype, closest in ((torch.double, 1e-9), (torch.float, 1e-7)):
        for place, row in zip(FAR, expected, strict=True):
            added = SinusoidalPositions(D)(torch.zeros(1, 1, D, dtype=dtype), start=place)
            torch.testing.assert_close(added[0, 0].double(), row, atol=closest, rtol=0)


@pytest.mark.parametrize("dtype", [torch.double, torch.float])
def test_far_vectors_are_turned_exactly(dtype):
    """(1, 0) in each plane becomes (cos, sin) of its angle."""
    size = 10
    for place in FAR:
        row = exact_waves([place], size)[0]
        vectors = torch.cat([torch.ones(size // 2), torch.zeros(size // 2)]).to(dtype)
        turned = rotate(vectors[None, None, None], start=place)[0, 0, 0]
        assert turned.dtype == dtype
        closest = 1e-9 if dtype == torch.double else 1e-7
        expected = torch.cat([row[1::2], row[::2]])
        torch.testing.assert_close(turned.double(), expected, atol=closest, rtol=0)


@given(shift=st.integers(0, 30))
def test_a_shift_is_one_rotation_for_all_positions(shift):
    table = sinusoids(torch.arange(40), 2)
    turn = torch.tensor([[math.cos(shift), math.sin(shift)], [-math.sin(shift), math.cos(shift)]])
    moved = sinusoids(torch.arange(40) + shift, 2)
    torch.testing.assert_close(table @ turn.T, moved, atol=1e-4, rtol=0)


def test_a_plane_is_turned_by_hand():
    """D = 2: position p turns the one plane by p radians; (1, 0) becomes (cos p, sin p)."""
    turned = rotate(torch.tensor([[[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]]))
    expected = [[1, 0], [math.cos(1), math.sin(1)], [-math.sin(2), math.cos(2)]]
    torch.testing.assert_close(turned[0, 0], torch.tensor(expected))


@pytest.mark.slow
def test_rotation_equals_that_of_transformers():
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(hidden_size=3 * 8, num_attention_heads=3, rope_theta=10000.0)
    queries, keys = torch.randn(2, B, 3, L, 8).unbind()
    places = torch.arange(5, 5 + L)[None]
    expected = apply_rotary_pos_emb(queries, keys, *LlamaRotaryEmbedding(config)(queries, places))
    torch.testing.assert_close((rotate(queries, start=5), rotate(keys, start=5)), expected)


@given(first=st.integers(0, 50), second=st.integers(0, 50), shift=st.integers(0, 50))
@example(first=0, second=0, shift=10**6)
@example(first=99_999, second=1, shift=65_537)
def test_turned_vectors_know_only_their_distance(first, second, shift):
    query, key = torch.randn(2, 1, 1, 1, 8).double().unbind()

    def product(start_of_query, start_of_key):
        return (rotate(query, start=start_of_query) * rotate(key, start=start_of_key)).sum()

    moved = product(first + shift, second + shift)
    torch.testing.assert_close(product(first, second), moved, atol=1e-8, rtol=0)
    torch.testing.assert_close(rotate(query, start=first).norm(), query.norm(), rtol=1e-12, atol=0)


@given(cut=st.integers(1, L - 1))
def test_a_later_start_turns_the_rest_of_the_sequence(cut):
    vectors = torch.randn(B, 2, L, 6)
    assert torch.equal(rotate(vectors[:, :, cut:], start=cut), rotate(vectors)[:, :, cut:])


def positions(kind, size, join):
    if kind == "learned":
        return LearnedPositions(17, size, join)
    return SinusoidalPositions(size, join)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_added(kind):
    layer = positions(kind, D, "add")
    vectors = torch.randn(B, L, D)
    added = layer(vectors) - vectors
    encoded = layer.encode(torch.arange(L)).float()
    torch.testing.assert_close(added, encoded.expand(B, L, D))


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_concatenated(kind):
    layer = positions(kind, P, "concatenate")
    vectors = torch.randn(B, L, D)
    joined = layer(vectors)
    assert joined.shape == (B, L, D + P)
    assert torch.equal(joined[..., :D], vectors)
    encoded = layer.encode(torch.arange(L)).float()
    assert torch.equal(joined[..., D:], encoded.expand(B, L, P))


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_concatenating_and_mapping_is_mapping_and_adding(kind):
    """W [x; p] = W_x x + W_p p; and x + p is the case W_x = W_p."""
    layer = positions(kind, P, "concatenate")
    vectors, encoded = torch.randn(B, L, D), layer.encode(torch.arange(L)).float()
    both = nn.Linear(D + P, 2, bias=False)
    w_x, w_p = both.weight.split([D, P], dim=1)
    torch.testing.assert_close(both(layer(vectors)), vectors @ w_x.T + encoded @ w_p.T)
    same, added = positions(kind, D, "concatenate"), positions(kind, D, "add")
    same.load_state_dict(added.state_dict())
    weight = torch.randn(2, D)
    torch.testing.assert_close(
        same(vectors) @ torch.cat([weight, weight], dim=1).T, added(vectors) @ weight.T
    )


@given(kind=st.sampled_from(["sinusoidal", "learned"]), cut=st.integers(1, L - 1))
def test_a_later_start_is_the_rest_of_the_sequence(kind, cut):
    layer = positions(kind, D, "add")
    vectors = torch.randn(B, L, D)
    whole = layer(vectors)
    assert torch.equal(layer(vectors[:, :cut]), whole[:, :cut])
    assert torch.equal(layer(vectors[:, cut:], start=cut), whole[:, cut:])


def test_learned_positions_learn():
    layer = LearnedPositions(17, D)
    layer(torch.zeros(B, L, D)).sum().backward()
    torch.testing.assert_close(layer.table.grad[:L], torch.full((L, D), float(B)))
    assert not layer.table.grad[L:].any()
    assert LearnedPositions(500, 100).table.std().item() == pytest.approx(0.1, rel=0.05)


def test_precision_is_kept():
    vectors = torch.randn(B, L, D).bfloat16()
    assert SinusoidalPositions(D)(vectors).dtype == torch.bfloat16
    assert rotate(torch.randn(B, 2, L, 6).bfloat16()).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rotate(torch.zeros(B, 2, L, D)),
            ValueError,
            "vectors must",
        ),
        (
            lambda: LearnedPositions(L, D)(torch.zeros(B, L, D), start=2),
            ValueError,
            "vectors must",
        ),
        (lambda: Positions(D)(torch.zeros(B, L, D)), NotImplementedError, "Positions must"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_interpolated_positions_are_those_of_a_finer_grid():
    vectors = torch.randn(1, 2, 2 * L, 8, dtype=torch.float64)
    halved = rotate(vectors, scale=0.5)
    torch.testing.assert_close(halved[:, :, ::2], rotate(vectors[:, :, ::2]))
    pair = vectors[0, 0, 3, [1, 5]]  # pair 1 of 4, at position 3
    angle = 3 * 0.5 / 10000 ** (2 / 8)
    turned = [
        pair[0] * math.cos(angle) - pair[1] * math.sin(angle),
        pair[0] * math.sin(angle) + pair[1] * math.cos(angle),
    ]
    assert halved[0, 0, 3, [1, 5]].tolist() == pytest.approx([one.item() for one in turned])


def test_the_slopes_of_the_paper():
    assert alibi_slopes(8).tolist() == [1 / 2**h for h in range(1, 9)]
    sixteen = alibi_slopes(16).tolist()  # "which interpolate those of 8 heads geometrically"
    assert sixteen[1::2] == pytest.approx(alibi_slopes(8).tolist())
    assert sixteen[0] == pytest.approx(2**-0.5)


def test_the_bias_falls_with_the_distance_and_starts_at_zero():
    bias = alibi_bias(4, L)
    assert bias.shape == (4, L, L)
    for head in range(4):
        for query in range(L):
            for key in range(query + 1):
                expected = -(query - key) * 2 ** (-2 * (head + 1))
                assert bias[head, query, key].item() == pytest.approx(expected)
