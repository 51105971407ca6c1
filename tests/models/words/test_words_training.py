"""Fast training: a batch follows the model's own gradient, and it learns what it should."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gates2heads.data.batches.windows import Text, Windows, cut_blocks, join_sentences
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words import training as module
from gates2heads.models.words.block_kernel import SHARED
from gates2heads.models.words.training import BlockTrainer, expected_loss, train_negative_sampling
from gates2heads.models.words.word2vec import Word2Vec

WIDTH, DIMENSIONS = 5, 7


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


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_a_batch_moves_the_vectors_along_the_gradient_of_the_model(architecture):
    text = toy_text(3)
    model = toy_model(text, architecture=architecture, negatives=SHARED)
    torch.nn.init.normal_(model.vectors.weight)
    torch.nn.init.normal_(model.output.vectors.weight)
    trainer = BlockTrainer(
        model, window=2, threshold=1.0, learning_rate=1.0, batch_size=7, workers=1, seed=0
    )
    # With as many negatives as a block shares, the model's own loss on the same noise is the sum.
    blocks = cut_blocks(text, width=WIDTH, window=2)
    drawn = torch.randint(4, 14, (len(blocks.center), SHARED))
    loss = 0
    for row in range(len(drawn)):
        for place in blocks.band[row].any(1).nonzero()[:, 0]:
            around = Windows(
                blocks.center[row, place][None],
                blocks.context[row][None],
                blocks.band[row, place][None],
            )
            hidden, target = model.predictions(around)
            loss = loss + model.output(hidden, target, drawn[row].expand(len(target), -1)).sum()
    slopes = torch.autograd.grad(loss, (model.vectors.weight, model.output.vectors.weight))
    before = [model.vectors.weight.clone(), model.output.vectors.weight.clone()]
    trainer.read_batch(*blocks, drawn, 1.0)
    after = [model.vectors.weight, model.output.vectors.weight]
    for slope, old, new in zip(slopes, before, after, strict=True):
        step = slope / slope.square().mean(1, keepdim=True).add(1e-6).sqrt()  # Adagrad's first
        assert torch.allclose(old - new, step, atol=1e-4)


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
        choices = {"epochs": 3, "threshold": 1.0, "batch_size": np.uint8(7), "seed": seed}
        train_negative_sampling(model, text, **choices, progress=False)
        runs.append((model.vectors.weight.detach(), expected_loss(model, text)))
    assert torch.equal(runs[0][0], runs[1][0])
    assert not torch.equal(runs[0][0], runs[3][0])
    assert abs(runs[2][1] - runs[0][1]) < 0.05 * runs[0][1]


@pytest.mark.parametrize("piece", [10**6, 64])
def test_the_rate_falls_to_zero_in_a_straight_line(monkeypatch, piece):
    text, rates = toy_text(), []
    model = toy_model(text)

    class Watched(BlockTrainer):
        def read_batch(self, *batch):
            rates.append(batch[-1])
            return super().read_batch(*batch)

    monkeypatch.setattr("gates2heads.models.words.training.BlockTrainer", Watched)
    monkeypatch.setattr("gates2heads.models.words.training.PIECE", piece)
    settings = {"window": 2, "threshold": 1.0, "batch_size": 2, "learning_rate": 0.5}
    train_negative_sampling(model, text, epochs=3, **settings, progress=False)
    assert rates[0] == 0.5
    assert rates == sorted(rates, reverse=True)
    if piece > len(text.tokens):  # one piece: the steps are equal
        line = [0.5 * (1 - step / len(rates)) for step in range(len(rates))]
        assert rates == pytest.approx(line, abs=1e-6)
    assert 0 < rates[-1] < 0.05


def test_two_workers_learn_as_much_as_one():
    text, losses, threads = toy_text(), [], torch.get_num_threads()
    for workers in (1, 2):
        torch.manual_seed(0)
        model = toy_model(text)
        choices = {"epochs": 3, "threshold": 1.0, "batch_size": 7, "workers": workers}
        train_negative_sampling(model, text, **choices, progress=False)
        losses.append(expected_loss(model, text))
    assert abs(losses[0] - losses[1]) < 0.05 * losses[0]
    assert torch.get_num_threads() == threads


def test_a_vector_that_is_not_finite_stops_the_training():
    text = toy_text(31)
    model = toy_model(text)
    model.vectors.weight.data[5] = float("nan")
    with pytest.raises(FloatingPointError, match="a word vector is not finite after epoch 1"):
        train_negative_sampling(model, text, epochs=2, progress=False)


def test_only_negative_sampling_is_trained_so():
    text = toy_text(7)
    with pytest.raises(TypeError, match="model must"):
        train_negative_sampling(toy_model(text, output="softmax"), text)
    with pytest.raises(ValueError, match="model must"):
        expected_loss(toy_model(text, architecture="cbow"), text)


@pytest.mark.parametrize("measure", [train_negative_sampling, expected_loss])
def test_a_text_with_other_words_than_the_models_is_refused(measure):
    model = toy_model(toy_text(7))
    with pytest.raises(ValueError, match="text must"):
        measure(model, join_sentences([[3, 14]]))
    with pytest.raises(ValueError, match="text must"):
        measure(model, Text(torch.zeros(0).long(), torch.zeros(0).long()))


def test_a_text_without_two_words_in_a_sentence_has_no_loss():
    with pytest.raises(ValueError, match="text holds no two words in one sentence"):
        expected_loss(toy_model(toy_text(7)), join_sentences([[3], [4]]))


@pytest.mark.slow
def test_max_is_to_min_as_argmax_is_to_argmin(docstring_words):
    vocabulary, text = docstring_words
    model = Word2Vec(vocabulary.counts, 100)
    train_negative_sampling(model, text, epochs=5, learning_rate=0.15, progress=False)
    vectors = WordVectors(vocabulary.tokens, model.vectors.weight)
    answers = [word for word, _ in vectors.analogy("max", "min", "argmax", 3)]
    assert "argmin" in answers
