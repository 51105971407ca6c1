"""The evaluation of counted and trained vectors, and the association test."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.word_tests import analogies, word_similarity
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import bias, evaluation, word_vectors
from tests.needs import needs_data


@needs_data
@pytest.mark.slow
def test_the_judge_agrees_with_the_metrics_of_the_library():
    table = shipped("words_skip_gram").model
    words, vectors = ["<pad>", *table.words], F.pad(table.vectors.weight.detach(), (0, 0, 1, 0))
    found = evaluation.Judge(words, vectors, set(table.words), specials=1)
    ours, theirs = found.similarity("men"), table.compared()
    agreed = theirs.agreement(word_similarity("men")[1::2])
    assert (ours["used"], ours["total"]) == (agreed.used, agreed.total)
    assert ours["value"] == pytest.approx(agreed.value, abs=1e-3)
    assert ours["low"] < ours["value"] < ours["high"]
    solved, some = found.analogies(), theirs.analogy_accuracy(analogies()[1::2])
    assert solved["used"] == some.used
    assert solved["value"] == pytest.approx(some.value, abs=2.5 / some.used)  # ties of rounding


def test_cosines_of_a_sparse_matrix_are_those_of_the_dense_one():
    generator = torch.Generator().manual_seed(2)
    matrix = torch.rand(7, 11, generator=generator) * (torch.rand(7, 11, generator=generator) > 0.5)
    matrix[3] = 0
    dense = evaluation.cosines(matrix, [5, 3, 2])
    torch.testing.assert_close(evaluation.cosines(matrix.to_sparse().coalesce(), [5, 3, 2]), dense)
    assert dense[0, 5] == pytest.approx(1, abs=1e-6)
    assert (dense[1] == 0).all()


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=17))
def test_the_correlation_from_sums_is_pearsons(pairs):
    x, y = torch.tensor(pairs, dtype=torch.double).T
    total = torch.stack([torch.ones_like(x), x, y, x * x, y * y, x * y]).sum(1)
    constant = len(x.unique()) == 1 or len(y.unique()) == 1
    expected = 0 if constant else pearsonr(x, y).statistic
    assert evaluation.correlation(total) == pytest.approx(expected, abs=1e-9)


def test_an_effect_by_hand():
    # Means 1 and −1, standard deviation sqrt(4/3); of the six divisions only the given one is 2
    # apart.
    size, p_value = bias.effect([1.0, 1, -1, -1])
    assert size == pytest.approx(2 / math.sqrt(4 / 3))
    assert p_value == pytest.approx(1 / 6)
    assert bias.effect([-1.0, -1, 1, 1])[1] == 1


def test_an_association_by_hand():
    words = [*bias.WOMEN, *bias.MEN, *bias.FIRST, *bias.SECOND]
    women, men, both = [1.0, 0], [0.0, 1], [1.0, 1]
    rows = [women] * 10 + [men] * 10 + [both] * 8 + [men] * 8
    found = bias.associations(WordVectors(words, torch.tensor(rows)))
    assert found["nurse"] == pytest.approx(0, abs=1e-6)
    assert found["soldier"] == pytest.approx(-1)


def test_more_text_gives_better_vectors_on_the_same_pairs():
    rows = read_study("ch02/evaluation")
    for model in word_vectors.MODELS:
        before, after = (results_of(rows, f"{corpus}, {model}")[0] for corpus in evaluation.CORPORA)
        assert before["same"]["men"]["used"] == after["same"]["men"]["used"]
        assert after["same"]["men"]["value"] > before["same"]["men"]["value"]
        assert after["judged"]["men"]["used"] > before["judged"]["men"]["used"]
        assert after["words"] >= 10_000


def test_words_that_the_view_opens_with_find_words_of_their_kind():
    for name in ("words_skip_gram", "words_cbow"):
        words = shipped(name).model.compared()
        animals = {"dog", "puppy", "kitten", "rabbit", "rabbits", "tabby", "llama", "chihuahua"}
        animals |= {"bulldog", "poodle", "goat", "squirrel", "parrot", "puppies", "pug", "sheepdog"}
        assert sum(word in animals for word, _ in words.nearest("cat", 8)) >= 4
