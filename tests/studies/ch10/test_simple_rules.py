"""Chapter 10's simple rules, on a few pairs by hand, and what is stored of them."""

import numpy as np
import pytest

from gates2heads.book.ch10.board import standings
from gates2heads.book.studies import read_study, results_of
from gates2heads.metrics.bleu import Bleu
from studies.ch10 import simple_rules as rules

PAIRS = [
    ("Ein Mann", "A man"),
    ("Hund", "dog"),
    ("Ein Hund läuft.", "A dog runs."),
    ("Ein Hund schläft.", "A dog sleeps."),
    ("Ein Kind läuft.", "A child runs."),
    ("Ein Hund läuft.", "A dog runs."),
]
STORED = {name: results_of(read_study("ch10/simple_rules"), name)[0] for name in rules.RULES}


def test_words_are_split_and_joined():
    words = ["saftig-grünes", "Gras", ",", "Hund", "."]
    assert rules.split("saftig-grünes Gras, Hund.") == words
    assert rules.joined(words) == "saftig-grünes Gras, Hund."


def test_the_rules_by_hand():
    texts = ["Ein Kind schläft.", "Hund!"]
    assert rules.copies(PAIRS, texts) == texts
    assert rules.constants(PAIRS, texts) == ["A dog runs."] * 2
    # an unknown word is copied, and the order is that of the source
    assert rules.word_by_word(PAIRS, [*texts, "Kind Hund"]) == [
        "A child sleeps.",
        "dog!",
        "child dog",
    ]


def test_the_dictionary_in_lower_case_begins_every_output_with_a_capital_letter():
    texts = ["ein KIND schläft.", "Hund EIN!", "ein Kind, unbekannt PARIS"]
    assert rules.in_lower_case(PAIRS, texts) == [
        "A child sleeps.",
        "Dog a!",
        "A child, unbekannt paris",
    ]


def test_the_nearest_source_may_have_words_that_are_not_asked_for():
    assert rules.nearest(PAIRS, ["Das Kind läuft.", "Ein Hund schläft tief."]) == [
        "A child runs.",
        "A dog sleeps.",
    ]


def test_a_gain_over_itself_is_none():
    counts = Bleu().statistics(["A dog runs here."] * 3, [["A dog runs here now."]] * 3)
    assert rules.gain(counts, counts, 0) == {"bleu": [0, 0, 0]}


def test_what_is_stored():
    rungs = standings(read_study("ch10/translators"))
    scores = {name: told["bleu"] for name, told in STORED.items()}
    assert max(scores["copy"], scores["constant"]) < 1
    assert max(rungs["captions-rnn"].of("bleu")) < scores["nearest"]
    assert max(rungs["captions-gru"].of("bleu")) < scores["dictionary"]
    lower = STORED["dictionary, lower case"]
    assert max(rungs["captions-gru"].of("bleu")) < lower["bleu"] < scores["dictionary"]
    assert max(rungs["captions-luong"].of("chrf")) < lower["chrf"] < STORED["dictionary"]["chrf"]
    assert lower["bleu"] < lower["bleu_without_case"]
    found, low, high = STORED["dictionary"]["gain"]["bleu"]
    assert found == pytest.approx(scores["dictionary"] - rungs["captions-gru"].of("bleu")[0])
    assert low < found < high
    assert np.isfinite([told["chrf"] for told in STORED.values()]).all()
