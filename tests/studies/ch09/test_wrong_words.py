"""The study of synonyms and wrong words: what it counts, and what is stored."""

import pytest

from gates2heads.book.studies import read_study, results_of
from studies.ch09 import wrong_words


@pytest.fixture
def few(monkeypatch):
    texts = ("a man sits.", "the old man runs.", "two men run.", "a big dog runs.")
    monkeypatch.setattr(wrong_words, "sentences", lambda: texts)
    return texts


def test_the_counts_of_four_sentences(few):
    """“woman” contains “man”; “guy” shares no letter with it, “large” one with “big”."""
    told = wrong_words.run(wrong_words.CHRF, 0)
    assert (told["sentences"], told["words"], told["man"]) == (4, 3, 2)
    assert told["wrong"] >= 3
    assert told["synonym"] + told["equal"] + told["wrong"] == 4
    others = wrong_words.run(wrong_words.OTHERS, 0)
    assert (others["sentences"], others["words"]) == (1, 1)
    girl = wrong_words.run(wrong_words.GIRL, 0)
    assert (girl["sentences"], girl["synonym"], girl["words_synonym"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("A man sits.", "A girl sits."),
        ("A woman and a man.", "A woman and a girl."),
        ("A man sees a man", "A girl sees a man"),
    ],
)
def test_the_first_man_becomes_a_girl(text, changed):
    assert wrong_words.with_girl(text) == changed


def test_a_wrong_word_is_one_with_another_meaning(few):
    assert [wrong_words.exchanged_word(text) for text in few] == ["man", "man", "men", "big"]


@pytest.mark.parametrize("setting", wrong_words.SETTINGS)
def test_what_is_stored_is_what_the_study_counts(setting):
    [stored] = results_of(read_study("ch09/wrong_words"), setting)
    assert stored == wrong_words.run(setting, 0)
