"""Vocabulary: numbers for tokens and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.vocabulary import BOS, EOS, PAD, Vocabulary

tokens = st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=11).filter(
    lambda chosen: not {PAD, BOS, EOS} & set(chosen)
)


def test_by_hand():
    vocabulary = Vocabulary(["on", "the", "mat"])
    assert vocabulary.tokens == ["<pad>", "<bos>", "<eos>", "on", "the", "mat"]
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos) == (0, 1, 2)
    assert vocabulary.encode(["the", "mat"]) == [4, 5]
    assert vocabulary.decode([1, 4, 0, 5, 2, 3, 99]) == ["the", "mat"]  # nothing after <eos>
    assert len(vocabulary) == 6
    assert "mat" in vocabulary
    assert "cat" not in vocabulary
    assert repr(vocabulary) == "Vocabulary(6 tokens)"


def test_texts_give_their_distinct_tokens_sorted():
    assert Vocabulary.from_texts(["ba", "cb"]).tokens[3:] == ["a", "b", "c"]
    assert Vocabulary.from_texts([["on", "mat"], ["mat"]]).tokens[3:] == ["mat", "on"]
    assert len(Vocabulary.from_texts([])) == 3


@given(tokens=tokens, data=st.data())
def test_what_is_encoded_comes_back(tokens, data):
    vocabulary = Vocabulary(tokens)
    text = data.draw(st.lists(st.sampled_from(tokens))) if tokens else []
    numbers = vocabulary.encode(text)
    assert vocabulary.decode(numbers) == text
    assert vocabulary.decode(torch.tensor(numbers, dtype=torch.long)) == text
    assert all(3 <= number < len(vocabulary) for number in numbers)
    assert vocabulary.encode(tokens) == list(range(3, 3 + len(tokens)))


@given(st.lists(st.text(max_size=5), max_size=5))
def test_the_order_of_the_texts_does_not_matter(texts):
    assert Vocabulary.from_texts(texts).tokens == Vocabulary.from_texts(texts[::-1]).tokens


def test_refuses_tokens_that_stand_twice_or_are_special():
    with pytest.raises(ValueError, match="must be distinct and not special, but 'a' stands twice"):
        Vocabulary(["a", "b", "a"])
    with pytest.raises(ValueError, match="but '<eos>' stands twice"):
        Vocabulary(["a", "<eos>"])


@pytest.mark.parametrize("wrong", [["a", 3], [["a"]], [None]])
def test_refuses_tokens_that_are_no_strings(wrong):
    with pytest.raises(TypeError, match="tokens must"):
        Vocabulary(wrong)


def test_refuses_to_encode_what_it_does_not_know():
    with pytest.raises(ValueError, match="tokens holds 'c' at position 1, which is not among"):
        Vocabulary(["a", "b"]).encode(["a", "c"])


@pytest.mark.parametrize("number", [5, -1])
def test_refuses_to_decode_what_is_no_number_of_its(number):
    with pytest.raises(ValueError, match=f"numbers holds {number}, but the vocabulary knows 0"):
        Vocabulary(["a", "b"]).decode([3, number])
