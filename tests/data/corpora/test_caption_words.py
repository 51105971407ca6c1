"""The stored counts of words: by hand, whole, small, and those of the captions themselves."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora.caption_words import (
    FILE,
    LANGUAGES,
    caption_words,
    count_words,
    pack,
    packed_caption_words,
    to_bytes,
    unpack,
    word_key,
    words_in,
)
from gates2heads.data.corpora.multi30k import CaptionPair, multi30k
from tests.needs import needs_data

MOST = 150_000  # bytes of the stored file


def test_counting_by_hand():
    pairs = [
        CaptionPair("Ein Mann, EIN Hund!", "A man, a dog!"),
        CaptionPair("Zwei Mädchen und ein T-Shirt.", "Two girls and a t-shirt."),
    ]
    packed = pack(pairs)
    assert packed == {
        "captions": 2,
        "german": {"1": "hund maedchen mann shirt t und zwei", "3": "ein"},
        "english": {"1": "and dog girls man shirt t two", "3": "a"},
    }
    assert unpack(packed["german"])["ein"] == 3
    assert unpack(packed["english"]) == count_words(pair.english for pair in pairs)


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("Mädchen", "maedchen"),
        ("Ma\u0308dchen", "maedchen"),
        ("Maedchen", "maedchen"),
        ("ÜBER", "ueber"),
        ("Suppe", "suppe"),
    ],
)
def test_a_word_counts_as_one_however_it_is_typed(word, key):
    assert word_key(word) == key


def test_words_are_runs_of_letters_marks_and_digits():
    assert words_in("Ein Mädchen (5) geht's: 🐕, T-Shirt_x — 小狗跑。") == [
        *("Ein", "Mädchen", "5", "geht", "s", "T", "Shirt", "x", "小狗跑")
    ]


@given(st.text())
def test_words_keep_every_letter_and_nothing_else(text):
    kept = "".join(words_in(text))
    composed = unicodedata.normalize("NFC", text)
    assert kept == "".join(one for one in composed if unicodedata.category(one)[0] in "LMN")


def test_the_stored_file_is_small_and_holds_words_alone():
    packed = packed_caption_words()
    assert packed["captions"] == 29_000
    assert FILE.stat().st_size < MOST
    for language in LANGUAGES:
        counts = caption_words(language)
        assert min(counts.values()) == 1
        assert all([word_key(one)] == words_in(one) for one in counts)
    german = caption_words("german")
    assert german["suppe"] == 2
    assert "girl" not in german
    assert max(german, key=german.get) == "ein"


@needs_data
def test_the_stored_file_is_what_the_command_makes():
    packed = pack(multi30k("train"))
    assert packed == packed_caption_words()
    assert to_bytes(packed) == to_bytes(dict(packed_caption_words()))
