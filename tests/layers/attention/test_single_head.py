"""Attention: against F.scaled_dot_product_attention and against loops written from the papers."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.attention.scores import (
    SCORES,
    AdditiveScore,
    ConcatScore,
    DotScore,
    GaussianScore,
    GeneralScore,
    ScaledDotScore,
)
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.record import record

B, T, S, Q, K, D, HIDDEN = 3, 5, 7, 11, 13, 17, 19


def inputs(query_size=Q, key_size=K, *, batch=B, targets=T, sources=S, seed=5):
    """Query, keys, values, as leaves in double precision."""
    generator = torch.Generator().manual_seed(seed)
    shapes = (batch, targets, query_size), (batch, sources, key_size), (batch, sources, D)
    return [
        torch.randn(shape, dtype=torch.double, generator=generator).requires_grad_()
        for shape in shapes
    ]


def twins(leaves):
    return [leaf.detach().clone().requires_grad_() for leaf in leaves]


def padding_mask(lengths=(7, 2, 5)):
    return torch.arange(S) < torch.tensor(lengths)[:, None, None]  # (B, 1, S)


def matrix(parameter):
    return parameter.detach().tolist()


def dot(score, query, key):
    return sum(q * k for q, k in zip(query, key, strict=True))


def scaled_dot(score, query, key):
    return dot(score, query, key) / math.sqrt(len(key))


def general(score, query, key):
    """Luong et al. 2015, eq. 8: s^T W_a h."""
    weights = matrix(score.bilinear.weight)
    return sum(q * dot(score, row, key) for q, row in zip(query, weights, strict=True))


def additive(score, query, key):
    """Bahdanau et al. 2015, A.1.2, and Luong et al. 2015, eq. 8: v_a^T tanh(W_a [s; h])."""
    rows = zip(matrix(score.query_layer.weight), matrix(score.key_layer.weight), strict=True)
    hidden = [math.tanh(dot(score, w, query) + dot(score, u, key)) for w, u in rows]
    return dot(score, *matrix(score.vector.weight), hidden)


def gaussian(score, query, key):
    return -sum((q - k) ** 2 for q, k in zip(query, key, strict=True)) / (2 * score.bandwidth**2)


# Every score: how it is built, with widths that differ wherever they may, and one score of one
# query and one key as its paper writes it. Whoever adds a score adds its case here.
CASES = {
    "additive": (lambda: AdditiveScore(Q, K, HIDDEN), additive),
    "concat": (lambda: ConcatScore(Q, K, HIDDEN), additive),
    "general": (lambda: GeneralScore(Q, K), general),
    "dot": (lambda: DotScore(K, K), dot),
    "scaled dot": (lambda: ScaledDotScore(K, K), scaled_dot),
    "gaussian": (lambda: GaussianScore(K, bandwidth=3.0), gaussian),
}


def test_every_score_has_its_case():
    assert {type(build()) for build, _ in CASES.values()} >= set(SCORES.values())


@pytest.mark.parametrize("name", CASES)
def test_scores_agree_with_a_loop_over_the_papers_formula(name):
    build, formula = CASES[name]
    score = build().double()
    query, keys, _ = (leaf.detach() for leaf in inputs(score.query_size, score.key_size))
    scores = score(query, score.project_keys(keys))
    assert scores.shape == (B, T, S)
    for b, t, s in [(0, 0, 0), (2, 4, 6), (1, 3, 5), (0, 4, 1), (2, 0, 6)]:
        expected = formula(score, query[b, t].tolist(), keys[b, s].tolist())
        assert scores[b, t, s].item() == pytest.approx(float(expected), abs=1e-12)


def test_additive_score_agrees_with_single_vectors_and_its_gradients(parity):
    """Outputs and gradients against Bahdanau's A.1.2, one (query, key) pair at a time."""
    score = AdditiveScore(Q, K, HIDDEN).double()
    query, keys, _ = inputs()
    parameters = twins(score.parameters())
    slow_query, slow_keys = twins([query, keys])
    query_matrix, key_matrix, vector = parameters
    expected = torch.stack(
        [
            vector[0] @ torch.tanh(query_matrix @ slow_query[b, t] + key_matrix @ slow_keys[b, s])
            for b in range(B)
            for t in range(T)
            for s in range(S)
        ]
    ).view(B, T, S)
    scores, direction = score(query, score.project_keys(keys)), torch.randn(B, T, S).double()
    (scores * direction).sum().backward()
    (expected * direction).sum().backward()
    parity(
        "AdditiveScore",
        "Bahdanau et al. 2015, A.1.2, pair by pair",
        ([scores], [expected]),
        (
            [query.grad, keys.grad, *(p.grad for p in score.parameters())],
            [slow_query.grad, slow_keys.grad, *(p.grad for p in parameters)],
        ),
    )


def test_general_score_agrees_with_bilinear_form_of_torch(parity):
    score = GeneralScore(Q, K).double()
    query, keys, _ = inputs()
    leaves = slow_query, slow_keys, matrix = twins([query, keys, score.bilinear.weight])
    pairs = slow_query[:, :, None].expand(B, T, S, Q), slow_keys[:, None].expand(B, T, S, K)
    expected = F.bilinear(*(pair.contiguous() for pair in pairs), matrix[None])[..., 0]
    scores, direction = score(query, score.project_keys(keys)), torch.randn(B, T, S).double()
    (scores * direction).sum().backward()
    (expected * direction).sum().backward()
    parity(
        "GeneralScore",
        "F.bilinear",
        ([scores], [expected]),
        ([query.grad, keys.grad, score.bilinear.weight.grad], [leaf.grad for leaf in leaves]),
    )


def test_concat_is_one_matrix_over_the_joined_vector():
    """W [q; k] with the single matrix that `weight` shows, as Luong et al. 2015, eq. 8 writes."""
    score = ConcatScore(Q, K, HIDDEN).double()
    query, keys, _ = inputs()
    assert score.weight.shape == (HIDDEN, Q + K)
    joined = torch.cat(
        [query[:, :, None].expand(B, T, S, Q), keys[:, None].expand(B, T, S, K)], dim=-1
    )
    expected = torch.tanh(joined @ score.weight.T) @ score.vector.weight[0]
    torch.testing.assert_close(score(query, score.project_keys(keys)), expected)
    gradients = torch.autograd.grad(score.weight.square().sum(), list(score.parameters())[:2])
    torch.testing.assert_close(gradients, tuple(2 * p for p in list(score.parameters())[:2]))


MASKS = {
    "none": None,
    "padding": padding_mask(),
    "causal": torch.ones(T, S, dtype=torch.bool).tril(2),
    "full": torch.rand(B, T, S, generator=torch.Generator().manual_seed(2)) < 0.8,
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_scaled_dot_agrees_with_the_fused_kernel_of_torch(mask, parity):
    leaves = inputs(K, K)
    others = twins(leaves)
    context, weights = Attention(ScaledDotScore(K, K))(*leaves, mask=mask)
    expected = F.scaled_dot_product_attention(*others, attn_mask=mask)
    assert weights.shape == (B, T, S)
    direction = torch.randn(context.shape, dtype=torch.double)
    (context * direction).sum().backward()
    (expected * direction).sum().backward()
    parity(
        "Attention(ScaledDotScore)",
        "F.scaled_dot_product_attention",
        ([context], [expected]),
        ([leaf.grad for leaf in leaves], [leaf.grad for leaf in others]),
    )


@pytest.mark.parametrize("name", SCORES)
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_gives_zero_gradients(name):
    attention = Attention(SCORES[name](K, K)).double()
    leaves = inputs(K, K)
    mask = torch.ones(B, 1, S, dtype=torch.bool)
    mask[1] = False
    context, weights = attention(*leaves, mask=mask)
    assert (weights[1] == 0).all()
    assert (context[1] == 0).all()
    context.square().sum().backward()
    for leaf in leaves:
        assert (leaf.grad[1] == 0).all()
        assert leaf.grad.isfinite().all()
        assert (leaf.grad[0] != 0).any()
    assert all(p.grad.isfinite().all() for p in attention.parameters())


@pytest.mark.parametrize("name", SCORES)
def test_no_gradient_reaches_padding(name):
    attention = Attention(SCORES[name](K, K)).double()
    _, keys, values = leaves = inputs(K, K)
    mask = padding_mask()
    attention(*leaves, mask=mask)[0].square().sum().backward()
    assert (keys.grad[~mask[:, 0]] == 0).all()
    assert (values.grad[~mask[:, 0]] == 0).all()
    assert (values.grad[mask[:, 0]] != 0).any()


def test_gaussian_attention_by_hand_is_nadaraya_watson():
    # σ² = 1 / (2 ln 2) makes the kernel 2^(−distance²). Keys 0, 1, 3 lie 1, 0, 2 from the query 1:
    # kernels 1/2, 1, 1/16 with sum 25/16, so the weights are 8/25, 16/25, 1/25.
    sigma = math.sqrt(1 / (2 * math.log(2)))
    attention = Attention(GaussianScore(1, bandwidth=sigma))
    query, keys = torch.tensor([[[1.0]]]), torch.tensor([[[0.0], [1.0], [3.0]]])
    values = torch.tensor([[[5.0], [10.0], [75.0]]])
    context, weights = attention(query, keys, values)
    torch.testing.assert_close(weights, torch.tensor([[[8 / 25, 16 / 25, 1 / 25]]]))
    # (8·5 + 16·10 + 1·75) / 25 = (40 + 160 + 75) / 25 = 275 / 25 = 11
    torch.testing.assert_close(context, torch.tensor([[[11.0]]]))


def test_gaussian_attention_agrees_with_a_kernel_sum(parity):
    leaves = inputs(K, K)
    others = twins(leaves)
    context, _ = Attention(GaussianScore(K, bandwidth=2.3))(*leaves)
    rows = []
    for b in range(B):
        for t in range(T):
            gaps = (others[0][b, t] - others[1][b]).norm(dim=-1)
            kernel = torch.exp(-0.5 * (gaps / 2.3) ** 2) / (2.3 * math.sqrt(2 * math.pi))
            rows.append(sum(kernel[s] * others[2][b, s] for s in range(S)) / kernel.sum())
    expected = torch.stack(rows).view(B, T, D)
    context.square().sum().backward()
    expected.square().sum().backward()
    parity(
        "Attention(GaussianScore)",
        "Nadaraya–Watson estimator, query by query",
        ([context], [expected]),
        ([leaf.grad for leaf in leaves], [leaf.grad for leaf in others]),
    )


def test_dot_attention_by_hand():
    # Scores of the query (ln 2, 1): keys (1, 0), (0, 0), (2, 0) give ln 2, 0, 2 ln 2 = ln 4.
    # e^score is 2, 1, 4; the sum is 7.
    query = torch.tensor([[[math.log(2), 1.0]]])
    keys = torch.tensor([[[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]]])
    values = torch.tensor([[[7.0], [0.0], [14.0]]])
    context, weights = Attention(DotScore(2, 2))(query, keys, values)
    torch.testing.assert_close(weights, torch.tensor([[[2 / 7, 1 / 7, 4 / 7]]]))
    torch.testing.assert_close(context, torch.tensor([[[10.0]]]))  # (2·7 + 4·14) / 7
    # Scaled: keys four times as wide halve the scores: ln 2 becomes ½ ln 2 = ln √2.
    query = torch.tensor([[[math.log(4), 0.0, 0.0, 0.0]]])
    keys = torch.tensor([[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    _, weights = Attention(ScaledDotScore(4, 4))(query, keys, values[:, :2])
    torch.testing.assert_close(weights, torch.tensor([[[2 / 3, 1 / 3]]]))  # e^(ln 4 / 2) = 2


def test_additive_attention_by_hand():
    # Hidden layer of one unit: v = 1, W_q = 0, W_k = 1, so the score is tanh(key). Keys ±x with
    # tanh x = ½ ln 2 give scores ±½ ln 2, so e^score is √2 and 1/√2: weights 2/3 and 1/3.
    score = AdditiveScore(1, 1, 1)
    for layer, value in ((score.query_layer, 0.0), (score.key_layer, 1.0), (score.vector, 1.0)):
        torch.nn.init.constant_(layer.weight, value)
    far = math.atanh(math.log(2) / 2)
    keys, values = torch.tensor([[[far], [-far]]]), torch.tensor([[[3.0], [6.0]]])
    context, weights = Attention(score)(torch.tensor([[[5.0]]]), keys, values)
    torch.testing.assert_close(weights, torch.tensor([[[2 / 3, 1 / 3]]]))
    torch.testing.assert_close(context, torch.tensor([[[4.0]]]))  # (2·3 + 1·6) / 3


@pytest.mark.parametrize("name", SCORES)
@given(seed=st.integers(0, 2**31), order=st.permutations(range(S)))
def test_the_order_of_key_value_pairs_does_not_matter(name, seed, order):
    attention = Attention(SCORES[name](K, K)).double()
    query, keys, values = (leaf.detach() for leaf in inputs(K, K, seed=seed))
    mask = padding_mask()
    context, weights = attention(query, keys, values, mask=mask)
    moved = attention(query, keys[:, order], values[:, order], mask=mask[..., order])
    torch.testing.assert_close(moved[0], context)
    torch.testing.assert_close(moved[1], weights[..., order])


@pytest.mark.parametrize("name", SCORES)
@given(seed=st.integers(0, 2**31), extra=st.integers(1, 5))
def test_more_padding_changes_nothing_and_weights_sum_to_one(name, seed, extra):
    attention = Attention(SCORES[name](K, K)).double()
    query, keys, values = (leaf.detach() for leaf in inputs(K, K, seed=seed))
    mask = padding_mask()
    context, weights = attention(query, keys, values, mask=mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T).double())
    assert (weights[~mask.expand(B, T, S)] == 0).all()
    longer = [F.pad(tensor, (0, 0, 0, extra), value=9.0) for tensor in (keys, values)]
    padded, more = attention(query, *longer, mask=F.pad(mask, (0, extra)))
    torch.testing.assert_close(padded, context)
    torch.testing.assert_close(more, F.pad(weights, (0, extra)))


@pytest.mark.parametrize("name", CASES)
def test_projecting_the_keys_once_changes_nothing(name):
    attention = Attention(CASES[name][0]()).double()
    query, keys, values = inputs(attention.score.query_size, attention.score.key_size)
    once = attention(query, attention.project_keys(keys), values, projected=True)
    torch.testing.assert_close(once, attention(query, keys, values), rtol=0, atol=0)


def test_the_additive_score_takes_the_querys_width_if_none_is_given():
    assert AdditiveScore(Q, K).vector.in_features == Q


def test_notes_the_weights_of_the_same_pass():
    attention = Attention(AdditiveScore(Q, K)).double()
    leaves = inputs()
    with record(attention) as trace:
        _, weights = attention(*leaves, mask=padding_mask())
    (noted,) = trace[""]["weights"]
    assert torch.equal(noted, weights)
    assert not noted.requires_grad


def test_refuses_a_dot_product_of_different_widths():
    with pytest.raises(ValueError, match="a dot product needs query_size = key_size, got 3 and 5"):
        DotScore(3, 5)
