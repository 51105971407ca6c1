"""Fast training: its hand-written gradients are autograd's, and it learns what it should."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.windows import cut_blocks, join_sentences
from gates2heads.models import word2vec_training as module
from gates2heads.models.word2vec import Word2Vec
from gates2heads.models.word2vec_training import (
    SHARED,
    RowAdagrad,
    expected_loss,
    loss_of,
    pair_weights,
    score_gradients,
    train_negative_sampling,
)

BLOCKS, WIDTH, COLUMNS, DIMENSIONS = 3, 5, 11, 7


def toy_text(size=211, seed=0):
    """Sentences about one of two things: words 4–8 never stand beside words 9–13."""
    draw = torch.Generator().manual_seed(seed)
    topics = torch.randint(2, (size,), generator=draw).tolist()
    words = torch.randint(5, (size, 7), generator=draw).tolist()
    return join_sentences(
        [[4 + 5 * t + w for w in row] for t, row in zip(topics, words, strict=True)]
    )


def toy_model(text, **choices):
    return Word2Vec(torch.bincount(text.tokens, minlength=14), DIMENSIONS, **choices)


@pytest.mark.parametrize("positives", [0, 4, COLUMNS])
def test_gradients_of_a_block_are_those_of_autograd(parity, positives):
    hidden = torch.randn(BLOCKS, WIDTH, DIMENSIONS, dtype=torch.double, requires_grad=True)
    output = torch.randn(BLOCKS, COLUMNS, DIMENSIONS, dtype=torch.double, requires_grad=True)
    weight = torch.rand(BLOCKS, WIDTH, COLUMNS, dtype=torch.double)
    scores, *ours = score_gradients(hidden.detach(), output.detach(), weight, positives)
    theirs = hidden @ output.mT
    label = (torch.arange(COLUMNS) < positives).double().expand_as(weight)
    loss = F.binary_cross_entropy_with_logits(theirs, label, weight=weight, reduction="sum")
    parity(
        "word2vec score_gradients",
        "F.binary_cross_entropy_with_logits",
        ([scores, loss_of(scores, weight, positives)[0]], [theirs, loss]),
        (ours, torch.autograd.grad(loss, (hidden, output))),
    )


@given(st.lists(st.lists(st.integers(3, 29), min_size=1, max_size=11), min_size=1))
def test_noise_counts_k_times_the_right_words(sentences):
    blocks = cut_blocks(join_sentences(sentences), width=WIDTH, window=3)
    for architecture in ("skip-gram", "cbow"):
        weight = pair_weights(blocks, architecture, 5)
        right, noise = weight[..., :-SHARED], weight[..., -SHARED:]
        assert torch.allclose(noise.sum(2), 5 * right.sum(2))
        pairs = blocks.band.sum() if architecture == "skip-gram" else blocks.band.any(2).sum()
        assert right.sum() == pairs


def test_row_adagrad_by_hand():
    table = RowAdagrad(torch.zeros(3, 2))
    # Row 1 comes twice: its gradients (1, 2) and (2, 2) add up to (3, 4), mean square 12.5.
    rows, gradient = torch.tensor([1, 2, 1]), torch.tensor([[1.0, 2], [0, 2], [2, 2]])
    table.step(rows, gradient, rate=0.5)
    expected = torch.tensor([[0, 0], [3, 4], [0, 2]]) / torch.tensor([1, 12.5, 2]).sqrt()[:, None]
    assert torch.allclose(table.weight, -0.5 * expected, atol=1e-5)
    before = table.weight[1].clone()
    table.step(torch.tensor([1]), torch.tensor([[3.0, 4.0]]), rate=0.5)  # the sum is now 25
    assert torch.allclose(table.weight[1] - before, -0.5 * torch.tensor([3, 4]) / 5, atol=1e-5)


def test_expected_loss_is_the_mean_of_many_draws():
    text = toy_text(13)
    model = toy_model(text)
    torch.nn.init.normal_(model.vectors.weight)
    torch.nn.init.normal_(model.output.vectors.weight)
    blocks = cut_blocks(text, width=1, window=1)
    row, _, column = blocks.band.nonzero(as_tuple=True)
    center, word = blocks.center[row, 0], blocks.context[row, column]
    with torch.no_grad():
        drawn = [model.output(model.vectors(center), word).mean() for _ in range(499)]
    drawn = torch.stack(drawn)
    error = 4 * float(drawn.std()) / len(drawn) ** 0.5
    assert abs(expected_loss(model, text, window=1) - float(drawn.mean())) < error


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_words_of_one_topic_come_together(architecture):
    text = toy_text()
    model = toy_model(text, architecture=architecture)
    history = train_negative_sampling(
        model, text, epochs=3, window=3, threshold=1.0, batch_size=7, progress=False
    )
    assert history.loss[-1] < 0.8 * history.loss[0]
    assert history.words == 3 * len(text.tokens)
    unit = F.normalize(model.vectors.weight.detach()[4:], dim=1)
    cosines = unit @ unit.T
    same = torch.block_diag(torch.ones(5, 5), torch.ones(5, 5)).bool()
    assert cosines[same].min() > cosines[~same].max()


def test_the_same_seed_gives_the_same_vectors_and_pieces_change_little(monkeypatch):
    text, runs = toy_text(), []
    for piece, seed in ((10_000, 3), (10_000, 3), (500, 3), (10_000, 4)):
        monkeypatch.setattr(module, "PIECE", piece)
        torch.manual_seed(0)
        model = toy_model(text)
        choices = {"epochs": 3, "threshold": 1.0, "batch_size": 7, "seed": seed}
        train_negative_sampling(model, text, **choices, progress=False)
        runs.append((model.vectors.weight.detach(), expected_loss(model, text)))
    assert torch.equal(runs[0][0], runs[1][0])
    assert not torch.equal(runs[0][0], runs[3][0])
    assert abs(runs[2][1] - runs[0][1]) < 0.05 * runs[0][1]


def test_a_vector_that_is_not_finite_stops_the_training():
    text = toy_text(31)
    model = toy_model(text)
    model.vectors.weight.data[5] = float("nan")
    with pytest.raises(FloatingPointError, match="a word vector became infinite in epoch 1"):
        train_negative_sampling(model, text, epochs=2, progress=False)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda t, m: train_negative_sampling(toy_model(t, output="softmax"), t),
            TypeError,
            "model must be a Word2Vec with output='negative-sampling'",
        ),
        (lambda t, m: train_negative_sampling(m, [[3]]), TypeError, "must come from join_sent"),
        (
            lambda t, m: train_negative_sampling(m, join_sentences([[3, 14]])),
            ValueError,
            "text must hold numbers 0 to 13, got 14",
        ),
        (lambda t, m: train_negative_sampling(m, t, epochs=0), ValueError, "epochs must be at"),
        (lambda t, m: train_negative_sampling(m, t, window=0), ValueError, "window must be at"),
        (lambda t, m: train_negative_sampling(m, t, batch_size=0), ValueError, "batch_size must"),
        (
            lambda t, m: train_negative_sampling(m, t, learning_rate=-1),
            ValueError,
            "learning_rate must be positive",
        ),
        (
            lambda t, m: expected_loss(toy_model(t, architecture="cbow"), t),
            ValueError,
            "model must be a skip-gram model, got 'cbow'",
        ),
        (
            lambda t, m: expected_loss(m, join_sentences([[3], [4]])),
            ValueError,
            "text holds no two words in one sentence",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(call, error, sentence):
    text = toy_text(7)
    with pytest.raises(error) as caught:
        call(text, toy_model(text))
    assert sentence in str(caught.value)


@pytest.mark.slow
def test_max_is_to_min_as_argmax_is_to_argmin():
    from gates2heads.data.docstrings import docstrings
    from gates2heads.data.prose import sentences
    from gates2heads.data.words import WordVocabulary, split_words
    from gates2heads.metrics.word_vectors import WordVectors

    lines = [
        split_words(sentence)
        for document in docstrings("train")
        for paragraph in document.entry
        for sentence in sentences(paragraph)
    ]
    vocabulary = WordVocabulary.from_texts(lines, min_count=3)
    known = [[word for word in line if word in vocabulary] for line in lines]
    text = join_sentences([vocabulary.encode(line) for line in known if line])
    model = Word2Vec(vocabulary.counts, 100)
    train_negative_sampling(model, text, epochs=5, learning_rate=0.15, progress=False)
    vectors = WordVectors(vocabulary.tokens, model.vectors.weight)
    answers = [word for word, _ in vectors.analogy("max", "min", "argmax", 3)]
    assert "argmin" in answers
