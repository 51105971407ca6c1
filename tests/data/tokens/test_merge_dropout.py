"""BPE-dropout: merges by hand, no dropout is the library, everything left out is bytes, seeds."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.merge_dropout import MergeDropout, merge_with_dropout

TEXTS = ["the low lower lowest", "das neue Haus, die neuen Häuser", "a newer low"]
RANKS = {("a", "b"): 0, ("b", "c"): 1, ("ab", "c"): 2, ("bc", "c"): 3}


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(TEXTS * 2, 293)


class Chances:
    """Gives the numbers that a test wrote down."""

    def __init__(self, *numbers):
        self.left = list(numbers)

    def random(self):
        return self.left.pop(0)


def test_merges_by_hand():
    split = merge_with_dropout(list("abcc"), RANKS, 0.0, random.Random(0))
    assert split == ["abc", "c"]  # (a, b) first, then (ab, c)
    # Two merges are possible; the first is left out, so (b, c) is made. Then (bc, c) is the only
    # one and is kept; then there is none.
    chances = Chances(0.2, 0.9, 0.9)
    assert merge_with_dropout(list("abcc"), RANKS, 0.5, chances) == ["a", "bcc"]
    assert chances.left == []
    # All possible merges of one step are left out: the word is done.
    assert merge_with_dropout(list("abcc"), RANKS, 0.5, Chances(0.2, 0.3)) == list("abcc")


def test_a_merge_is_left_out_with_the_given_probability():
    assert merge_with_dropout(["a", "b"], RANKS, 0.5, Chances(0.5)) == ["ab"]
    assert merge_with_dropout(["a", "b"], RANKS, 0.5, Chances(0.4999)) == ["a", "b"]
    draw, times = random.Random(7), 19_997
    left_out = sum(
        merge_with_dropout(["a", "b"], RANKS, 0.3, draw) == ["a", "b"] for _ in range(times)
    )
    assert abs(left_out / times - 0.3) < 4 * (0.3 * 0.7 / times) ** 0.5  # four deviations


def test_the_pieces_given_are_not_touched():
    pieces = list("abcc")
    merge_with_dropout(pieces, RANKS, 0.0, random.Random(0))
    assert pieces == list("abcc")


@given(st.text(min_size=1, max_size=40))
def test_without_dropout_it_is_the_library(tokenizer, text):
    assert MergeDropout(tokenizer, 0.0).encode(text) == tokenizer.encode(text)


@given(st.text(min_size=1, max_size=40), st.floats(0, 1), st.integers(0, 99))
def test_every_text_comes_back(tokenizer, text, dropout, seed):
    numbers = MergeDropout(tokenizer, dropout, seed=seed).encode(text)
    assert numbers[-1] == tokenizer.eos
    assert tokenizer.decode(numbers) == text
    assert len(numbers) <= len(f" {text}".encode()) + 1


def test_all_left_out_is_one_piece_a_byte(tokenizer):
    numbers = MergeDropout(tokenizer, 1.0).encode("the Häuser", eos=False)
    assert len(numbers) == len(" the Häuser".encode())


def test_more_is_left_out_where_more_is_asked_for(tokenizer):
    text = "the lower Häuser " * 50
    sizes = [len(MergeDropout(tokenizer, share).encode(text)) for share in (0.0, 0.1, 0.5, 1.0)]
    assert sizes == sorted(set(sizes))


def test_a_seed_gives_the_same_splits_and_another_gives_others(tokenizer):
    text = "the lower Häuser " * 7
    first, again, other = (
        MergeDropout(tokenizer, 0.5, seed=seed).encode(text) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_a_word_has_as_many_splits_as_were_asked_for(tokenizer):
    several = MergeDropout(tokenizer, 0.5, splits=2)
    seen = Counter(tuple(several.encode("lowest Häuser")) for _ in range(200))
    assert len(seen) == 4  # two words, two splits each
    assert min(seen.values()) > 20  # each is drawn again
    once = MergeDropout(tokenizer, 0.5, splits=1)
    assert len({tuple(once.encode("lowest Häuser")) for _ in range(9)}) == 1


def test_an_empty_text_is_refused(tokenizer):
    for read in (MergeDropout(tokenizer).encode, tokenizer.words):
        with pytest.raises(ValueError, match="text is empty"):
            read("")
