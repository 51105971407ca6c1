"""The diagrams of chapter 2: what a tree must show, and what it refuses."""

import pytest
import torch

from gates2heads.figures.diagrams.words import skip_gram_and_cbow, sliding_window, word_tree
from gates2heads.models.words.huffman import HuffmanTree

TREE = HuffmanTree(torch.tensor([2, 3, 5, 11]))
PATHS = {word: TREE.path(number) for number, word in enumerate("abcd")}


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_tree_shows_every_word_and_node_with_left_on_the_left():
    figure = word_tree(PATHS, "a")
    told = {t.get_text(): t.get_position() for axes in figure.axes for t in axes.texts}
    assert {"a", "b", "c", "d", "u0", "u1", "u2"} <= told.keys()
    # c is left of the rest, then a left of b under node 0; d, the heaviest, is the root's right
    across = {word: place[0] for word, place in told.items()}
    assert across["c"] < across["a"] < across["b"] < across["d"]


def test_both_models_are_drawn():
    told = " ".join(texts(skip_gram_and_cbow()))
    for words in ("Skip-gram", "CBOW", "P(snow | runs)", "mean of the vectors"):
        assert words in told


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"paths": {"a": [(0, 1)]}, "shown_word": "a"}, ValueError, "two words or more"),
        (
            {"paths": {"a": [(0, 1)], "b": [(0, 1), (1, 1)]}},
            ValueError,
            "but at one node a side is missing",
        ),
        ({"shown_word": "z"}, ValueError, "shown_word must"),
    ],
)
def test_a_mistake_is_named(change, error, message):
    with pytest.raises(error, match=message):
        word_tree(**({"paths": PATHS, "shown_word": "a"} | change))


def test_the_window_slides_and_is_cut_off_at_the_ends():
    told = texts(sliding_window(["a", "dog", "runs", "through", "snow"], 2))
    assert "a → dog, runs" in told
    assert "runs → a, dog, through, snow" in told
    assert "snow → runs, through" in told
    assert told.count("dog") == 5
