"""Pieces of words put together for the reader; the JavaScript runs in Node."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.data.tokens.bpe import readable
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from tests.javascript import LIBRARY, run_javascript

PIECES = {"pieces": LIBRARY / "browser" / "live" / "pieces.js"}


def words_of(lists: list[list[str]]) -> list[list[dict]]:
    return run_javascript("return given.map(pieces.wordsOf);", PIECES, lists)


def texts(words: list[dict]) -> list[str]:
    return [word["text"] for word in words]


def test_a_word_begins_at_a_blank_and_where_letters_meet_signs():
    (words,) = words_of([[" Ein", " Schnee", "ball", "wer", "fer", ",", " 3", "D", "!", "<eos>"]])
    assert texts(words) == ["Ein", "Schneeballwerfer", ",", "3D", "!", "end"]
    assert [(word["from"], word["to"]) for word in words] == [
        *((0, 1), (1, 5), (5, 6), (6, 8), (8, 9), (9, 10))
    ]
    assert [word["isSpecial"] for word in words] == [False] * 5 + [True]


def test_bytes_become_their_character_again():
    snowman, umlaut = "☃", "ä"
    bytes_of = [[readable(bytes([byte])) for byte in text.encode()] for text in (snowman, umlaut)]
    (first, second, third) = words_of(
        [[" ", *bytes_of[0]], [" B", *bytes_of[1], "r"], [" ", bytes_of[0][0]]]
    )
    assert texts(first) == [snowman]
    assert first[0]["isRaw"]
    assert texts(second) == ["Bär"]
    assert texts(third) == ["\ufffd"]
    # An end does not belong to a character that the model left open, nor a word to the end.
    open_byte = bytes_of[1][0]
    (cut, begun) = words_of([[" B", open_byte, "<eos>"], ["<eos>", open_byte, bytes_of[1][1]]])
    assert texts(cut) == ["B", "\ufffd", "end"]
    assert [word["isSpecial"] for word in cut] == [False, False, True]
    assert texts(begun) == ["end", umlaut]


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=60))
def test_words_hold_every_piece_once_and_spell_the_text(some):
    tokenizer = load(shipped_weights("translator")).source
    tokens = tokenizer.vocabulary.tokens
    lists = [[tokens[number] for number in tokenizer.encode(text)] for text in some]
    for text, pieces, words in zip(some, lists, words_of(lists), strict=True):
        ends = [(word["from"], word["to"]) for word in words]
        assert ends[0][0] == 0
        assert ends[-1][1] == len(pieces)
        assert all(one[1] == other[0] for one, other in pairwise(ends))
        spelled = "".join(texts(words)[:-1]).replace(" ", "")
        assert spelled == text.replace(" ", "")


def test_a_map_of_words_sums_over_what_was_read_and_averages_over_what_was_written():
    weights = np.arange(2 * 3 * 4 * 5, dtype=float).reshape(2, 3, 4, 5)
    body = """
      const weights = { shape: given.shape, data: given.data };
      return given.chosen.map(([layer, head]) =>
        pieces.wordMap(pieces.chosenMap(weights, layer, head), given.source, given.target));
    """
    chosen = [(1, 2), (0, None), (None, None), (None, 1)]
    source = [{"from": 0, "to": 1}, {"from": 1, "to": 4}, {"from": 4, "to": 5}]
    target = [{"from": 0, "to": 3}, {"from": 3, "to": 4}]
    given_ = {
        **{"shape": weights.shape, "data": weights.ravel().tolist()},
        **{"chosen": chosen, "source": source, "target": target},
    }
    maps = run_javascript(body, PIECES, given_)
    picked = [weights[1, 2], weights[0].mean(0), weights.mean((0, 1)), weights[:, 1].mean(0)]
    for found, map_ in zip(maps, picked, strict=True):
        columns = np.stack([map_[:, 0], map_[:, 1:4].sum(1), map_[:, 4]], axis=1)
        np.testing.assert_allclose(found, [columns[:3].mean(0), columns[3]])


def test_what_is_typed_is_composed_and_loses_needless_blanks():
    typed = ["  Ein \t Hund\n", "Ba\u0308r", "   ", ""]
    assert run_javascript("return given.map(pieces.tidy);", PIECES, typed) == [
        *("Ein Hund", "Bär", "", "")
    ]


def test_a_date_that_is_typed_keeps_its_kinds_of_blanks():
    typed = [" 4  mai\t2050\n", "19 fe\u0301vrier", "1936\u202fг.", "1936\xa0г. ", ""]
    assert run_javascript("return given.map(pieces.spelled);", PIECES, typed) == [
        *("4 mai 2050", "19 f\u00e9vrier", "1936\u202fг.", "1936\xa0г.", "")
    ]


def test_what_cannot_be_seen_is_shown_by_a_sign():
    given_ = ["\x07", "\x7f", "", "\u202e", "a\u200db", "שלום", "<b>"]
    shown = run_javascript("return given.map(pieces.visible);", PIECES, given_)
    assert shown == ["␇", "␡", "␣", "U+202E", "a\u200db", "שלום", "<b>"]


def test_a_refusal_is_told_in_a_readers_words():
    many = [chr(0x2600 + place) for place in range(14)]
    given_ = [
        {"message": "…", "refused": {"unseen": ["☃"]}},
        {"message": "…", "refused": {"unseen": many}},
        {"message": "…", "refused": {"most": 512, "length": 900}},
        {"message": "text is empty"},
    ]
    told = run_javascript("return given.map(pieces.refusalInWords);", PIECES, given_)
    first = ", ".join(f"“{one}”" for one in many[:12])
    assert told == [
        "The model cannot read this: “☃” did not occur in training.",
        f"The model cannot read this: {first} and 2 more did not occur in training.",
        "Too long: 900 tokens (maximum 512).",
        "The model cannot read this: text is empty.",
    ]
