"""The study of the distilled translator: its subsets by hand, its scores, and its stored rows."""

import hashlib

import pytest

from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from studies.ch10 import distilled_translator as distilled
from studies.ch10.distilled_translator import DISTILLED, PLAIN, key, occurring, scored, sequences
from tests.needs import needs_data


def test_a_key_has_no_capitals_no_punctuation_and_single_blanks():
    assert key(" Ein  „Hund“, läuft. ") == "ein hund läuft"
    assert occurring(["A dog runs!", "A dog"], ["a dog, runs"]) == [True, False]


def test_sequences_by_hand():
    assert sequences("One two three four, five six.") == {
        ("one", "two", "three", "four", "five"),
        ("two", "three", "four", "five", "six"),
    }
    assert sequences("Two words.") == {("two", "words")}


def test_the_gain_is_the_difference_of_the_scores():
    written, other = ["A dog runs in snow.", "Two cats"], ["A dog sits.", "Two cats sleep."]
    references = [["A dog runs in the snow."], ["Two cats sleep."]]
    told = scored(other, written, references, 0)
    scores = [corpus_bleu(one, references).score for one in (other, written)]
    assert told[PLAIN]["bleu"][0] == pytest.approx(scores[0], abs=0.005)
    assert told[DISTILLED]["bleu"][0] == pytest.approx(scores[1], abs=0.005)
    assert told["gain"]["bleu"][0] == pytest.approx(scores[1] - scores[0], abs=0.011)
    assert told["sentences"] == 2


@needs_data
def test_a_planted_caption_is_found(monkeypatch):
    train, test = distilled.captions("train"), distilled.captions("test")
    planted = {"train": train, "test": (test[0], (*test[1][:-1], train[1][7].upper()))}
    monkeypatch.setattr(distilled, "captions", planted.get)
    told = distilled.seen()
    assert told["English"]["in captions"] == told["English"]["in either"] == 1
    assert told["German"]["in either"] == 0


@needs_data
def test_each_subset_and_its_opposite_are_all_captions():
    subsets = distilled.subsets()
    assert all(subsets["all"])
    for one, other in (
        ("familiar", "unfamiliar"),
        ("with a rare word", "without a rare word"),
    ):
        pairs = zip(subsets[one], subsets[other], strict=True)
        assert all(a != b for a, b in pairs)
    stored = rows()["captions"]
    assert {name: sum(chosen) for name, chosen in subsets.items()} == {
        name: stored[name]["sentences"] for name in subsets
    }


def rows():
    return {row["setting"]: row["result"] for row in distilled.study().rows()}


def test_what_is_stored_is_of_the_released_files():
    stored = rows()
    for name in (PLAIN, DISTILLED):
        digest = hashlib.sha256(shipped_weights(name).read_bytes()).hexdigest()[:16]
        bleu = load(shipped_weights(name)).card["scores_small"]
        for setting in ("captions", "search", "descriptions"):
            assert stored[setting]["sha256"][name] == digest
        test, validation = stored["captions"]["all"], stored["search"]["own"]
        assert test[name]["bleu"][0] == pytest.approx(bleu["test"]["bleu"], abs=0.05)
        assert validation[name]["bleu"][0] == pytest.approx(bleu["validation"]["bleu"], abs=0.05)
