"""The controls of chapter 2: each by hand, and what the page says of them."""

import numpy as np
import pytest
import torch

from gates2heads.book.studies import read_study, results_of
from gates2heads.data.corpora.word_tests import Analogy
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import controls


def test_endings_are_replaced():
    assert controls.replaced("dog", "dogs", "cat") == "cats"
    assert controls.replaced("dancing", "danced", "moving") == "moved"
    assert controls.replaced("dancing", "danced", "swim") is None
    assert controls.replaced("big", "bigger", "small") == "smallger"


def test_overlap_and_beginning_of_spellings():
    assert controls.overlap("dog", "dog") == 1
    assert controls.overlap("dog", "cat") == 0
    assert set(controls.character_ngrams("dog")) == {"<do", "dog", "og>", "<dog", "dog>", "<dog>"}
    words = ["dancers", "dance", "dan", "rancid"]
    assert max(words, key=lambda word: controls.beginning("dancing", word)) == "dance"
    assert controls.beginning("dancing", "dance")[0] == 4


def test_a_parallelogram_is_answered_by_arithmetic():
    vectors = WordVectors(
        ["a", "b", "c", "d", "e", "f"],
        torch.tensor(
            [[1.0, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1]]
        ),
    )
    rows = [Analogy("a", "b", "c", "d", "one"), Analogy("e", "f", "a", "b", "two")]
    found = controls.answered(vectors, rows)
    assert found["b − a + c"][0] == 1
    assert all(some.shape == (2,) for some in found.values())


def test_groups_widen_the_interval():
    values = np.repeat([0.0, 1.0, 0, 1, 1], 40)
    low, high = controls.interval(values, range(200))
    wide_low, wide_high = controls.interval(values, np.repeat(range(5), 40).tolist())
    assert wide_high - wide_low > 3 * (high - low)
    assert low < values.mean() < high


def test_spelling_answers_more_than_the_vectors():
    rows = read_study("ch02/controls")
    (spelling,) = results_of(rows, controls.SPELLING)
    for name in controls.VECTORS:
        (one,) = results_of(rows, name)
        assert spelling["answered"] > 2 * one["answered"]["b − a + c"]
        assert one["gain"]["value"] == pytest.approx(
            one["answered"]["b − a + c"] - one["answered"]["c"]
        )
