"""Word2vec: the gradients of the derivation, leaves that sum to 1, losses by hand and by gensim."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.batches.windows import Windows
from gates2heads.models.words.outputs import (
    FullSoftmax,
    HierarchicalSoftmax,
    NegativeSampling,
    noise_distribution,
)
from gates2heads.models.words.word2vec import OUTPUTS, Word2Vec

VOCABULARY, WIDTH, ROWS = 13, 7, 5
COUNTS = torch.tensor([0, 0, 0, 2, 97, 53, 31, 17, 11, 7, 5, 3, 3])


def filled(output):
    """An output whose vectors are not zero any more, in double precision."""
    torch.nn.init.normal_(output.vectors.weight)
    return output.double()


def model_of(**choices):
    model = Word2Vec(COUNTS, WIDTH, **choices)
    torch.nn.init.normal_(model.vectors.weight)
    filled(model.output)
    return model.double()


def window(center, context, size):
    mask = torch.zeros(1, size, dtype=torch.bool)
    mask[0, : len(context)] = True
    return Windows(torch.tensor([center]), torch.tensor([[*context, *[0] * size]])[:, :size], mask)


def test_skip_gram_gradient_is_the_word_minus_the_expected_word(parity):
    model = model_of(output="softmax")
    v, u = model.vectors.weight, model.output.vectors.weight
    center, word = 5, 8
    loss = model(window(center, [word], 3))
    (gradient,) = torch.autograd.grad(-loss, v)
    with torch.no_grad():
        probs = (u @ v[center]).exp() / (u @ v[center]).exp().sum()
        expected = u[word] - (probs[:, None] * u).sum(0)  # u_o − Σ_w P(w | c) u_w
        value = -probs[word].log()
    parity(
        "Word2Vec skip-gram",
        "∂log P/∂v_c = u_o − E[u]",
        ([loss], [value]),
        ([gradient[center]], [expected]),
    )
    gradient[center] = 0
    assert (gradient == 0).all()  # no other center vector moves


def test_cbow_gradient_is_a_share_of_the_same(parity):
    model = model_of(architecture="cbow", output="softmax")
    v, u = model.vectors.weight, model.output.vectors.weight
    context, center = [4, 9, 6], 7
    loss = model(window(center, context, 5))
    (gradient,) = torch.autograd.grad(-loss, v)
    with torch.no_grad():
        mean = v[context].mean(0)
        probs = (u @ mean).exp() / (u @ mean).exp().sum()
        expected = (u[center] - (probs[:, None] * u).sum(0)) / 3  # 1/2m of it for each word
        value = -probs[center].log()
    parity(
        "Word2Vec CBOW",
        "∂log P/∂v_o = (u_c − E[u]) / 2m",
        ([loss], [value]),
        ([gradient[word] for word in context], [expected] * 3),
    )


def test_full_softmax_agrees_with_cross_entropy(parity):
    output = filled(FullSoftmax(COUNTS, WIDTH))
    hidden = torch.randn(ROWS, WIDTH, dtype=torch.double, requires_grad=True)
    target = torch.randint(VOCABULARY, (ROWS,))
    ours = output(hidden, target)
    theirs = F.cross_entropy(hidden @ output.vectors.weight.T, target, reduction="none")
    weights = torch.randn(ROWS, dtype=torch.double)
    sides = (hidden, output.vectors.weight)
    gradients = [torch.autograd.grad(loss @ weights, sides) for loss in (ours, theirs)]
    parity("FullSoftmax", "F.cross_entropy", ([ours], [theirs]), gradients)


def test_left_right_left_by_hand():
    # The tree of counts 2, 3, 5, 11 sends word 0 left, right, left: P = σ(a) σ(−b) σ(c).
    output = HierarchicalSoftmax(torch.tensor([2, 3, 5, 11]), 2).double()
    with torch.no_grad():
        output.vectors.weight.copy_(torch.tensor([[1.0, 0], [0, 2.0], [-1.0, 3.0]]))
    hidden = torch.tensor([[2.0, 0.5]], dtype=torch.double)
    # root (inner node 2): −2 + 1.5 = −0.5; node 1: 1; node 0: 2.
    sigma = [1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(1)), 1 / (1 + math.exp(-2))]
    assert math.isclose(output(hidden, torch.tensor([0])).item(), -math.log(math.prod(sigma)))


@given(st.lists(st.integers(0, 97), min_size=2, max_size=19).filter(any), st.integers(0, 97))
def test_leaves_sum_to_one(counts, seed):
    torch.manual_seed(seed)
    output = filled(HierarchicalSoftmax(torch.tensor(counts), WIDTH))
    log_probs = output.log_probs(3 * torch.randn(ROWS, WIDTH, dtype=torch.double))
    assert torch.allclose(log_probs.exp().sum(1), torch.ones(ROWS, dtype=torch.double))


def test_hierarchical_loss_is_that_of_its_leaf(parity):
    output = filled(HierarchicalSoftmax(COUNTS, WIDTH))
    hidden = torch.randn(ROWS, WIDTH, dtype=torch.double, requires_grad=True)
    target = torch.tensor([4, 12, 0, 7, 4])
    ours = output(hidden, target)
    slow = []
    for row, word in zip(hidden, target.tolist(), strict=True):
        steps = [
            torch.sigmoid(turn * (output.vectors.weight[node] @ row))
            for node, turn in output.tree.path(word)
        ]
        slow.append(-torch.stack(steps).log().sum())
    slow = torch.stack(slow)
    leaves = -output.log_probs(hidden).gather(1, target[:, None])[:, 0]
    sides = (hidden, output.vectors.weight)
    first, second, third = (torch.autograd.grad(loss.sum(), sides) for loss in (ours, slow, leaves))
    parity("HierarchicalSoftmax", "product along the path", ([ours], [slow]), (first, second))
    parity("HierarchicalSoftmax", "its own log_probs", ([ours], [leaves]), (first, third))


def test_negative_sampling_by_hand():
    output = NegativeSampling(torch.tensor([3, 5, 7]), 2, negatives=2).double()
    with torch.no_grad():
        output.vectors.weight.copy_(torch.tensor([[1.0, 0], [0, 1.0], [2.0, -1.0]]))
    hidden = torch.tensor([[0.5, 2.0]], dtype=torch.double)
    # scores: right word 1 → 2; drawn words 0 → 0.5 and 2 → −1.
    loss = output(hidden, torch.tensor([1]), torch.tensor([[0, 2]])).item()
    sigma = [1 / (1 + math.exp(-x)) for x in (2, -0.5, 1)]
    assert math.isclose(loss, -sum(map(math.log, sigma)))


def test_negative_sampling_agrees_with_a_pair_by_pair_loss(parity):
    output = filled(NegativeSampling(COUNTS, WIDTH, negatives=3))
    hidden = torch.randn(ROWS, WIDTH, dtype=torch.double, requires_grad=True)
    target, noise = torch.randint(VOCABULARY, (ROWS,)), torch.randint(VOCABULARY, (ROWS, 3))
    noise[0, 1] = noise[0, 0]  # one word drawn twice
    ours = output(hidden, target, noise)
    u, slow = output.vectors.weight, []
    for row in range(ROWS):
        value = -torch.sigmoid(u[target[row]] @ hidden[row]).log()
        for word in noise[row]:
            value = value - torch.sigmoid(-(u[word] @ hidden[row])).log()
        slow.append(value)
    slow = torch.stack(slow)
    gradients = [torch.autograd.grad(loss.sum(), (hidden, u)) for loss in (ours, slow)]
    parity("NegativeSampling", "pair-by-pair loss", ([ours], [slow]), gradients)


def test_one_step_of_gensim_is_one_step_of_ours():
    models = pytest.importorskip("gensim.models", reason="needs gensim")
    # Two words and window 1: the pairs are (a, b) and (b, a). Hierarchical softmax has nothing
    # random, so one epoch of gensim is two steps of plain descent, one after the other.
    theirs = models.Word2Vec(
        vector_size=WIDTH, window=1, min_count=1, sg=1, hs=1, negative=0, sample=0, workers=1,
        alpha=0.5, min_alpha=0.5, seed=3,
    )  # fmt: skip
    theirs.build_vocab([["a", "b"]])
    order = theirs.wv.index_to_key
    ours = Word2Vec(torch.ones(2), WIDTH, output="hierarchical-softmax")
    with torch.no_grad():
        ours.vectors.weight.copy_(torch.tensor(theirs.wv.vectors))
        ours.output.vectors.weight.copy_(torch.tensor(theirs.syn1[:1]))
        # gensim's bit 0 goes where its code says; ours calls the 0 of the code left.
        for number, word in enumerate(order):
            bit = int(theirs.wv.get_vecattr(word, "code")[0])
            ours.output.turns[number] = 1 - 2 * bit
    theirs.train([["a", "b"]], total_examples=1, epochs=1)
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.5)
    for center, context in (("a", "b"), ("b", "a")):
        # gensim moves the context's vector and predicts the center: the pairs are the same set.
        batch = window(order.index(context), [order.index(center)], 1)
        optimizer.zero_grad()
        ours(batch).backward()
        optimizer.step()
    # gensim looks σ up in a table, up to 0.006 off: times rate 0.5 and vectors up to 0.25, 1e-3.
    assert torch.allclose(ours.vectors.weight, torch.tensor(theirs.wv.vectors), atol=1e-3)
    assert torch.allclose(ours.output.vectors.weight, torch.tensor(theirs.syn1[:1]), atol=1e-3)
    assert ours.output.vectors.weight.abs().max() > 1e-2  # and the step was one


def test_a_great_power_draws_only_the_most_frequent_words():
    counts = torch.tensor([3.0, 7.0, 0.0, 7.0])
    assert noise_distribution(counts, power=1e3).tolist() == [0, 0.5, 0, 0.5]
    assert noise_distribution(counts, power=1e308).tolist() == [0, 0.5, 0, 0.5]
    large = noise_distribution(torch.tensor([1e30, 1e38]), power=20)
    assert large.tolist() == pytest.approx([0, 1])


@pytest.mark.parametrize("output", OUTPUTS)
def test_whole_numbers_of_32_bits_are_token_numbers_too(output):
    layer = OUTPUTS[output](torch.tensor([3.0, 2.0, 5.0]), 7)
    nn.init.normal_(layer.vectors.weight)
    hidden, target = torch.randn(2, 7), torch.tensor([2, 0])
    noise = {"noise": torch.tensor([[1], [2]])} if output == "negative-sampling" else {}
    torch.testing.assert_close(layer(hidden, target.int(), **noise), layer(hidden, target, **noise))


def test_noise_distribution_by_hand():
    # 16^(3/4) = 8, 1, 81^(3/4) = 27, and what never occurs is never drawn: 36 together.
    noise = noise_distribution(torch.tensor([16, 1, 81, 0]))
    assert torch.allclose(noise, torch.tensor([8, 1, 27, 0]) / 36)
    assert noise_distribution(torch.tensor([5, 0, 7]), power=0).tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_pair_of_model_and_output_learns(architecture, output):
    model = Word2Vec(COUNTS, WIDTH, architecture=architecture, output=output)
    batch = Windows(
        torch.tensor([4, 5, 6]),
        torch.tensor([[7, 8], [8, 9], [9, 0]]),
        torch.tensor([[True, True], [True, True], [True, False]]),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(41):
        optimizer.zero_grad()
        losses.append(model(batch))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_padding_and_order_of_the_window_do_not_matter(architecture):
    model = model_of(architecture=architecture, output="softmax")
    short, long = window(5, [7, 9], 2), window(5, [9, 7], 5)
    assert torch.allclose(model(short), model(long))
    empty = Windows(*(torch.cat(pair) for pair in zip(long, window(3, [], 5), strict=True)))
    assert torch.allclose(model(empty), model(short))  # a window without a word asks nothing


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"center": torch.tensor([13])}, ValueError, "center must"),
        ({"context": torch.tensor([[4, -1]])}, ValueError, "context must"),
        ({"context": torch.ones(2, 2).long()}, ValueError, r"context must"),
        ({"mask": torch.ones(1, 2)}, TypeError, "mask must"),
        ({"mask": torch.ones(1, 1).bool()}, ValueError, r"mask must"),
        ({"mask": torch.zeros(1, 2).bool()}, ValueError, "batch holds no window with a word"),
    ],
)
def test_windows_whose_parts_do_not_fit_are_refused(change, error, sentence):
    with pytest.raises(error, match=sentence):
        model_of()(window(3, [4], 2)._replace(**change))
