"""The studies of chapter 2: what is stored has its seeds, and says what the page says of it."""

from collections import Counter

import pytest
import torch

from gates2heads.book.studies import read_study, results_of
from gates2heads.data.corpora.word_tests import analogies, word_similarity
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import analogies as analogy_study
from studies.ch02 import output_layers, word_classes, word_vectors
from tests.needs import needs_data


def test_every_setting_has_its_seeds():
    rows = read_study("ch02/word_vectors")
    for setting in word_vectors.SETTINGS:
        assert [row["seed"] for row in rows if row["setting"] == setting] == [0, 1, 2]
    for study in (word_classes, output_layers):
        rows = read_study(study.STUDY.name)
        assert {row["setting"] for row in rows} == set(study.STUDY.settings)


def test_the_open_answers_are_of_the_same_vectors():
    rows, judged = read_study("ch02/analogies"), read_study("ch02/word_vectors")
    for model in word_vectors.MODELS:
        answers, before = results_of(rows, model), results_of(judged, f"captions, {model}")
        assert len(answers) == len(before) == 3
        for one, other in zip(answers, before, strict=True):
            assert one["answered_by"]["right"] == other["judged"]["analogies_open"]
            assert sum(one["answered_by"].values()) == pytest.approx(1)
            assert one["settings"] == analogy_study.settings_of(model)
            assert one["settings"]["epochs"] == len(other["losses"])


@needs_data
def test_analogies_that_are_not_of_the_family_ask_for_forms_of_a_word():
    words = set(word_vectors.corpus("captions")[0].tokens)
    known = [one for one in analogies()[1::2] if words.issuperset(one[:4])]
    others = Counter(one.section for one in known if one.section != "family")
    assert sum(others.values()) == 518 - 45
    assert all(section.startswith("gram") for section in others)


@needs_data
def test_the_pair_that_the_page_shows_for_company_is_of_the_half_it_judges_by():
    assert ("cat", "paw", 43) in word_similarity("men")[1::2]


def test_whose_an_answer_is():
    words = ["north", "south", "east", "west"]
    vectors = WordVectors(words, torch.tensor([[0.0, 1], [0, -1], [1, 0], [-1, 0]]))
    shares = analogy_study.answered_by(vectors, [("north", "south", "east", "west")])
    assert shares == {"a": 0, "b": 1, "c": 0, "right": 0, "another": 0}  # south − north is 2 long


def test_captions_know_more_than_docstrings():
    rows = read_study("ch02/word_vectors")
    for model in word_vectors.MODELS:
        ours, theirs = (
            [one["judged"] for one in results_of(rows, f"{corpus}, {model}")]
            for corpus in word_vectors.CORPORA
        )
        assert min(o["men"] for o in ours) > max(t["men"] for t in theirs)
        assert min(o["analogies"] for o in ours) > max(t["analogies"] for t in theirs)
        assert ours[0]["men_pairs"] > 20 * theirs[0]["men_pairs"]


def test_the_least_part_is_judged_by_pairs_that_every_part_has_met():
    for setting in word_vectors.SETTINGS:
        for result in results_of(read_study("ch02/word_vectors"), setting):
            assert ("met" in result) == setting.startswith("captions")
            assert result.get("met_pairs", 0) < result["judged"]["men_pairs"]


@needs_data
def test_a_pair_is_met_where_both_its_words_are_read(monkeypatch):
    def three(name):
        vocabulary = WordVocabulary.from_texts([["cat", "paw"], ["dog"], ["puppy"]])
        return vocabulary, [vocabulary.encode(s) for s in (["cat", "paw"], ["dog"], ["puppy"])]

    monkeypatch.setattr(word_vectors, "corpus", three)
    word_vectors.pairs_met.cache_clear()
    try:
        assert {pair[:2] for pair in word_vectors.pairs_met(2)} == {("cat", "paw")}  # no dog
        assert {pair[:2] for pair in word_vectors.pairs_met(1)} >= {
            ("cat", "paw"),
            ("dog", "puppy"),
        }
    finally:
        word_vectors.pairs_met.cache_clear()


def test_a_step_in_small(monkeypatch):
    for name, value in (("SIZES", (7, 11)), ("REPEATS", 2), ("PAIRS", 5)):
        monkeypatch.setattr(output_layers, name, value)
    result = output_layers.run("hierarchical-softmax", 1)
    assert result["sizes"] == [7, 11]
    assert len(result["seconds_a_word"]) == len(result["expected_turns"]) == 2
    assert output_layers.run("softmax", 1)["expected_turns"] == []


@needs_data
@pytest.mark.slow
def test_a_training_in_small(monkeypatch):
    monkeypatch.setattr(word_vectors, "EPOCHS", 1)
    setting = "captions, skip-gram, a sixteenth of the text"
    result = word_vectors.run(setting, 1)
    assert result["words"] == 3272
    assert len(result["losses"]) == 1
    assert result["judged"]["men_pairs"] == 790
    assert result["met_pairs"] == 521
