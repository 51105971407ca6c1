"""English by the word and Chinese by the sign."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.bilingual import (
    BilingualTokenizer,
    bilingual_offsets,
    split_bilingual,
    write_bilingual,
)
from gates2heads.data.tokens.words import split_words

TEXTS = ["In Guinea-Bissau, people pay.", "瑞士的英文名称是Switzerland。", "Côte d’Ivoire & co."]


def test_words_and_signs_are_cut_as_by_hand():
    assert split_bilingual(TEXTS[0]) == ["In", "Guinea-Bissau", ",", "people", "pay", "."]
    assert split_bilingual("瑞士是Swiss。") == ["瑞", "士", "是", "Swiss", "。"]
    assert split_bilingual("d’Ivoire's 3.5") == ["d’Ivoire's", "3", ".", "5"]


@given(st.text(alphabet=st.characters(codec="utf-8", max_codepoint=0x2FFF)))
def test_without_chinese_it_cuts_as_the_word_tokenizer(text):
    assert split_bilingual(text) == split_words(text, lower=False)


@given(st.text())
def test_offsets_are_those_of_the_tokens_and_nothing_but_blanks_is_lost(text):
    spans = bilingual_offsets(text)
    assert [text[start:end] for start, end in spans] == split_bilingual(text)
    assert "".join(split_bilingual(text)) == "".join(text.split())


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_known_comes_back_as_it_was(text):
    tokenizer = BilingualTokenizer.from_texts(TEXTS)
    numbers = tokenizer.encode(text)
    assert numbers[-1] == tokenizer.vocabulary.eos
    assert numbers[:-1] == tokenizer.encode(text, eos=False)
    assert tokenizer.decode(numbers) == text


def test_what_is_not_known_is_one_number():
    tokenizer = BilingualTokenizer.from_texts(TEXTS)
    assert tokenizer.encode("pay 猫", eos=False)[1] == tokenizer.vocabulary.unk


def test_blanks_stand_between_words_alone():
    assert write_bilingual(["In", "Bern", ",", "法", "国", "Franc", "是", "a", "b", "."]) == (
        "In Bern,法国Franc是a b."
    )


def test_a_text_of_blanks_is_refused():
    with pytest.raises(ValueError, match="text must"):
        BilingualTokenizer.from_texts(["a"]).encode(" ")
