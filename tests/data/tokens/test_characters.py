"""CharacterTokenizer: every code point a token, and the text back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.data.tokens.vocabulary import Vocabulary


def test_by_hand():
    tokenizer = CharacterTokenizer.from_texts(["3月", "mar"])
    # Sorted by code point: 3 a m r 月 are numbers 3 to 7; <eos> is 2.
    assert tokenizer.encode("3月") == [3, 7, 2]
    assert tokenizer.encode("ram", eos=False) == [6, 4, 5]
    assert tokenizer.decode([1, 3, 7, 2, 4, 0]) == "3月"
    assert repr(tokenizer) == "CharacterTokenizer(Vocabulary(8 tokens))"


@given(st.lists(st.text(min_size=1, max_size=13), min_size=1, max_size=7))
def test_what_is_encoded_comes_back(texts):
    tokenizer = CharacterTokenizer.from_texts(texts)
    for text in texts:
        numbers = tokenizer.encode(text)
        assert len(numbers) == len(text) + 1
        assert numbers[-1] == Vocabulary.eos
        assert numbers[:-1] == tokenizer.encode(text, eos=False)
        assert tokenizer.decode(numbers) == text
        assert tokenizer.decode([Vocabulary.bos, *numbers, 3, Vocabulary.pad]) == text


def test_encodes_both_sides_of_pairs():
    source, target = CharacterTokenizer.from_texts(["ab"]), CharacterTokenizer.from_texts(["12"])
    assert encode_pairs([("ba", "1"), ("b", "22")], source, target) == [
        ([4, 3, 2], [3, 2]),
        ([4, 2], [4, 4, 2]),
    ]


def test_refuses_what_it_cannot_encode():
    tokenizer = CharacterTokenizer.from_texts(["mars 5"])
    with pytest.raises(ValueError, match="text is empty; it must hold at least one character"):
        tokenizer.encode("")
    with pytest.raises(ValueError, match="text holds '7', 'é', which this tokenizer never saw"):
        tokenizer.encode("é7")
