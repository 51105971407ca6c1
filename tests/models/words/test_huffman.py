"""Huffman's tree: by hand, prefix-free, as short as gensim's, within one bit of the entropy."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.models.words.huffman import HuffmanTree

all_counts = st.lists(st.integers(0, 97), min_size=2, max_size=23).filter(any)


def turns(tree, word):
    return tuple(turn for _, turn in tree.path(word))


def test_tree_by_hand():
    # Counts 2, 3, 5, 11: 2 + 3 = 5 is inner node 0. The two lightest are now word 2 (5, made
    # first) and node 0 (5): 10 is node 1. Then 10 and 11 make the root, node 2.
    tree = HuffmanTree(torch.tensor([2, 3, 5, 11]))
    assert tree.path(3) == [(2, -1)]
    assert tree.path(2) == [(2, 1), (1, 1)]
    assert tree.path(0) == [(2, 1), (1, -1), (0, 1)]  # left, right, left
    assert tree.path(1) == [(2, 1), (1, -1), (0, -1)]
    assert tree.code_lengths().tolist() == [3, 3, 2, 1]
    # (2·3 + 3·3 + 5·2 + 11·1) / 21 = 36 / 21
    assert math.isclose(tree.expected_length(torch.tensor([2, 3, 5, 11])), 36 / 21)


@given(all_counts)
@example([1, 1])
@example([5] * 8)
@example([1, 1, 2, 3, 5, 8, 13, 21])  # each as heavy as all before: the deepest tree
def test_no_code_begins_another_and_none_is_wasted(counts):
    tree = HuffmanTree(torch.tensor(counts))
    codes = [turns(tree, word) for word in range(len(counts))]
    for one in range(len(codes)):
        for other in range(len(codes)):
            assert one == other or codes[one] != codes[other][: len(codes[one])]
    assert sum(2.0 ** -len(code) for code in codes) == 1  # Kraft's sum: the tree is full


@given(all_counts)
def test_the_expected_length_lies_within_one_bit_of_the_entropy(counts):
    counts = torch.tensor(counts)
    counts = counts[counts > 0] if (counts > 0).sum() > 1 else counts + 1
    shares = counts / counts.sum()
    entropy = -float((shares * shares.log2()).sum())
    length = HuffmanTree(counts).expected_length(counts)
    assert entropy - 1e-5 <= length <= entropy + 1 + 1e-5


@given(all_counts)
def test_tables_hold_the_paths(counts):
    tree = HuffmanTree(torch.tensor(counts))
    nodes, signs = tree.tables()
    for word in range(len(tree)):
        length = len(tree.path(word))
        pairs = zip(nodes[word, :length].tolist(), signs[word, :length].tolist(), strict=True)
        assert list(pairs) == tree.path(word)
        assert (signs[word, length:] == 0).all()


def test_expected_length_is_that_of_gensim():
    models = pytest.importorskip("gensim.models", reason="needs gensim")
    counts = [97, 53, 31, 31, 17, 11, 7, 5, 3, 2, 1, 1, 1]
    words = [[f"w{number}"] * count for number, count in enumerate(counts)]
    theirs = models.Word2Vec(min_count=1, hs=1, negative=0, vector_size=2, workers=1)
    theirs.build_vocab(words)
    codes = [theirs.wv.get_vecattr(f"w{number}", "code") for number in range(len(counts))]
    total = sum(count * len(code) for count, code in zip(counts, codes, strict=True))
    ours = HuffmanTree(torch.tensor(counts)).expected_length(torch.tensor(counts))
    assert math.isclose(ours, total / sum(counts))


def test_one_word_alone_has_no_tree():
    with pytest.raises(ValueError, match="counts must"):
        HuffmanTree(torch.tensor([5]))


def test_a_word_that_the_tree_does_not_have_is_refused():
    with pytest.raises(ValueError, match="word must"):
        HuffmanTree(torch.ones(3)).path(3)
