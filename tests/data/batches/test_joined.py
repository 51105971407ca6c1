"""Texts between [CLS] and [SEP]: what stands where, what is cut, and which sentences are paired."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.joined import (
    Joined,
    Markers,
    collate_joined,
    join,
    next_sentence_pairs,
)
from gates2heads.data.tokens.words import WordTokenizer

MARKERS = Markers(17)
texts = st.lists(st.integers(3, 16), min_size=1, max_size=11)


def test_one_and_two_texts_by_hand():
    assert join([5, 6]) == Joined([1, 5, 6, 2], [0, 0, 0, 0], (range(1, 3),))
    pair = join([5, 6], [7, 8, 9])
    assert pair.tokens == [1, 5, 6, 2, 7, 8, 9, 2]
    assert pair.segments == [0, 0, 0, 0, 1, 1, 1, 1]
    assert pair.places == (range(1, 3), range(4, 7))
    assert pair.place([(0, 2)], 0) == [(1, 3)]
    assert pair.place([(1, 2), (0, 3)], 1) == [(5, 6), (4, 7)]


def test_the_longer_text_is_cut_and_spans_in_the_cut_part_go():
    # Room for 5 of 2 + 6 tokens: the second keeps 3.
    pair = join([5, 6], [7, 8, 9, 10, 11, 12], max_length=8)
    assert pair.tokens == [1, 5, 6, 2, 7, 8, 9, 2]
    assert pair.place([(1, 3), (2, 4), (4, 6)], 1) == [(5, 7)]
    assert join([3, 4, 5, 6], max_length=4).tokens == [1, 3, 4, 2]
    # Of two that are equally long, the second is cut.
    assert join([3, 4, 5], [6, 7, 8], max_length=8).tokens == [1, 3, 4, 5, 2, 6, 7, 2]


@given(texts, texts, st.integers(5, 29))
def test_what_is_left_are_beginnings_of_both_texts(first, second, max_length):
    pair = join(first, second, max_length=max_length)
    lengths = [len(place) for place in pair.places]
    assert len(pair.tokens) == len(pair.segments) == min(max_length, len(first) + len(second) + 3)
    assert min(lengths) >= 1
    for text, place in zip((first, second), pair.places, strict=True):
        assert pair.tokens[place.start : place.stop] == text[: len(place)]
        if len(place) < len(text):  # only the longer one was cut, down to the other one
            assert len(place) >= max(lengths) - 1
    assert [pair.tokens[0], pair.tokens[-1]] == [MARKERS.cls, MARKERS.sep]
    assert pair.tokens.count(MARKERS.sep) == 2
    assert sum(pair.segments) == lengths[1] + 1


def test_a_batch_says_what_is_real():
    batch = collate_joined([join([5], [6]), join([7, 8, 9])]).to("cpu")
    assert len(batch) == 2
    assert batch.tokens.tolist() == [[1, 5, 2, 6, 2], [1, 7, 8, 9, 2]]
    batch = collate_joined([join([5], [6]), join([7])])
    assert batch.tokens.tolist() == [[1, 5, 2, 6, 2], [1, 7, 2, 0, 0]]
    assert batch.segments.tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
    assert batch.mask.tolist() == [[True] * 5, [True] * 3 + [False] * 2]


def test_markers_leave_the_tokenizer_as_it_is():
    tokenizer = WordTokenizer.from_texts(["the bank", "of the river"])
    markers = Markers(len(tokenizer.vocabulary), specials=4)
    assert (markers.mask, markers.size) == (8, 9)  # 4 special tokens and 4 words
    assert tokenizer.vocabulary.tokens[markers.cls] == "<bos>"
    assert tokenizer.vocabulary.tokens[markers.sep] == "<eos>"
    tokens = torch.tensor([[0, 1, 2, 3, 4, 7, 8]])
    assert markers.ordinary(tokens).tolist() == [[False] * 4 + [True] * 2 + [False]]


DOCUMENTS = [[[number, place] for place in range(6)] for number in range(30)]


def test_the_second_sentence_is_the_next_one_or_another_documents():
    pairs = next_sentence_pairs(DOCUMENTS, seed=3)
    assert [first for first, _, _ in pairs] == [s for d in DOCUMENTS for s in d[:-1]]
    for first, second, follows in pairs:
        if follows:
            assert second == [first[0], first[1] + 1]
        else:
            assert second[0] != first[0]
    share = sum(follows for *_, follows in pairs) / len(pairs)
    assert abs(share - 0.5) < 4 * (0.25 / len(pairs)) ** 0.5  # four standard deviations
    others = {second[0] for _, second, follows in pairs if not follows}
    assert {0, 29} <= others  # the first and the last document are drawn, too
    assert pairs == next_sentence_pairs(DOCUMENTS, seed=3) != next_sentence_pairs(DOCUMENTS, seed=4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Markers(3), "words must"),
        (lambda: join([3], [4], max_length=4), "max_length must"),
    ],
)
def test_what_does_not_fit_together_is_refused(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call()
