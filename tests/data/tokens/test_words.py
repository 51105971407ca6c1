"""WordTokenizer and WordVocabulary: counts, limits, and one number for all unknown words."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.words import WordTokenizer, WordVocabulary, split_words

TEXTS = ["The cat saw the dog.", "The dog ran!"]
words = st.text("abcdé", min_size=1, max_size=3)


def test_words_by_hand():
    assert split_words("Don't read `set_xlim`: 3-D, naïve.") == [
        *("don't", "read", "`", "set_xlim", "`", ":", "3-d", ",", "naïve", "."),
    ]
    assert split_words("A b", lower=False) == ["A", "b"]
    assert split_words(" \n") == []


def test_tokenizer_by_hand():
    tokenizer = WordTokenizer.from_texts(TEXTS)
    # the 3, dog 2, then once each in code-point order: ! . cat ran saw; numbers begin at 4.
    assert tokenizer.vocabulary.tokens[4:] == ["the", "dog", "!", ".", "cat", "ran", "saw"]
    assert tokenizer.encode("The cat ran home") == [4, 8, 9, 3, 2]
    assert tokenizer.encode("dog", eos=False) == [5]
    assert tokenizer.decode([1, 4, 8, 3, 2, 9]) == "the cat <unk>"
    assert repr(tokenizer) == "WordTokenizer(Vocabulary(11 tokens), lower=True)"


def test_limits_by_hand():
    vocabulary = WordVocabulary.from_texts(map(split_words, TEXTS), min_count=2)
    assert vocabulary.tokens[3:] == ["<unk>", "the", "dog"]
    assert vocabulary.counts.tolist() == [0, 0, 0, 5, 3, 2]  # ! . cat ran saw, once each
    small = WordTokenizer.from_texts(TEXTS, max_size=1)
    assert small.encode("the dog") == [4, 3, 2]
    assert small.vocabulary.counts.sum() == 10  # no word is lost from the count
    assert WordTokenizer.from_texts(TEXTS, lower=False).encode("The the", eos=False) != [4, 4]


@given(st.lists(st.lists(words, min_size=1, max_size=11), min_size=1, max_size=7), st.data())
def test_every_word_is_known_or_rare(texts, data):
    counts = Counter(word for text in texts for word in text)
    least = data.draw(st.integers(1, max(counts.values())))
    vocabulary = WordVocabulary.from_texts(texts, min_count=least)
    frequencies = vocabulary.counts[4:].tolist()
    assert frequencies == sorted(frequencies, reverse=True)
    assert vocabulary.counts.sum() == sum(counts.values())
    for text in texts:
        for word, number in zip(text, vocabulary.encode(text), strict=True):
            assert (number == vocabulary.unk) == (counts[word] < least)
            assert number == vocabulary.unk or vocabulary.counts[number] == counts[word]


@given(st.lists(words, min_size=1, max_size=13))
def test_known_words_come_back(text):
    tokenizer = WordTokenizer.from_texts([" ".join(text)])
    assert tokenizer.decode(tokenizer.encode(" ".join(text))) == " ".join(text)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: WordVocabulary({}), ValueError, "counts holds 0 words, none of them 1 times"),
        (
            lambda: WordVocabulary({"a": 2}, min_count=3),
            ValueError,
            "counts holds 1 words, none of them 3 times or more",
        ),
        (lambda: WordVocabulary({"<unk>": 1}), ValueError, "'<unk>' stands twice"),
        (
            lambda: WordVocabulary.from_texts(["a b"]),
            TypeError,
            "each of the texts must be a list of words, got 'a b'",
        ),
        (
            lambda: WordTokenizer.from_texts(TEXTS).encode(" "),
            ValueError,
            "text must",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert sentence in str(caught.value)
