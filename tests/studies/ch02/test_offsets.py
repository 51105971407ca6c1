"""The study of the offsets of analogies: its measure by hand, and what the page says of it."""

import pytest
import torch

from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.word_tests import analogies
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import offsets
from tests.needs import needs_data

WORDS = ("a", "b", "c", "d")


def test_a_parallelogram_leads_to_its_fourth_word():
    slanted = torch.tensor([[3.0, 4, 12], [3, -4, 12], [-3, 4, 12], [-3, -4, 12]])
    found = offsets.offsets(WordVectors(WORDS, slanted), [WORDS, (*WORDS[:3], "unknown")])
    assert found["questions"] == 1
    assert found["median_ratio"] == found["cosine"] == pytest.approx(1)
    assert found["length"] == found["needed_length"] == pytest.approx(8 / 13)
    for name, shares in found["nearest"].items():
        # twice the offset leads beyond d, which is still nearest
        assert shares == {"a": 0, "b": 0, "c": 0, "right": 1}, name


def test_an_offset_in_another_direction_does_not():
    square = torch.tensor([[1.0, 0, 0], [0, 0, 1], [1, 0, 0.1], [1, 1, 0]])
    found = offsets.offsets(WordVectors(WORDS, square), [WORDS])
    assert abs(found["cosine"]) < 0.5
    assert found["nearest"]["twice"]["b"] == found["nearest"]["direction of d − c"]["right"] == 1


def test_the_offset_is_long_enough_with_every_model():
    for model in offsets.MODELS:
        (one,) = results_of(read_study("ch02/offsets"), model)
        assert one["median_ratio"] == pytest.approx(1, abs=0.02)
        assert one["cosine"] < 0.2
        assert one["nearest"]["given"]["c"] > 0.7


def test_vectors_that_are_counted_are_stored_too():
    for setting in offsets.COUNTED:
        (one,) = results_of(read_study("ch02/offsets"), setting)
        assert one["questions"] == 1514
        assert sum(one["nearest"]["given"].values()) <= 1
        assert one["nearest"]["given"]["c"] > one["nearest"]["given"]["right"]


@needs_data
def test_what_is_stored_is_measured_again():
    (stored,) = results_of(read_study("ch02/offsets"), "skip-gram")
    found = offsets.offsets(shipped("words_skip_gram").model.compared(), analogies()[1::2])
    for name, shares in found.pop("nearest").items():
        assert shares == pytest.approx(stored["nearest"][name], abs=0.002)
    assert found == pytest.approx({key: stored[key] for key in found})
