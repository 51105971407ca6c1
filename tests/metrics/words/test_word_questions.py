"""Questions of one to three words, by hand, and what a map of two axes must keep."""

import math

import pytest
import torch

from gates2heads.metrics.words.questions import GOAL, ask_words, flat_map
from gates2heads.metrics.words.vectors import WordVectors

WORDS = ["man", "woman", "king", "queen", "apple"]
POINTS = torch.tensor([[3.0, 0, 0], [0, 3, 0], [3, 0, 4], [0, 3, 4], [-5, -5, -1]])


@pytest.fixture
def vectors():
    return WordVectors(WORDS, POINTS)


def test_one_word_gives_its_neighbours(vectors):
    answer = ask_words(vectors, ["king"], count=2)
    assert answer.found == (tuple(vectors.nearest("king", 2)),)
    assert answer.points == ("king", "queen", "man")
    assert answer.cosines == ()


def test_two_words_give_what_tells_them_apart(vectors):
    answer = ask_words(vectors, ["man", "king"], count=1)
    assert [one[0][0] for one in answer.found] == ["queen", "woman"]
    assert answer.cosines == pytest.approx((0.6,))
    assert answer.points == ("man", "king", "queen", "woman")


def test_three_words_give_the_fourth_and_the_point_that_was_sought(vectors):
    answer = ask_words(vectors, ["man", "woman", "king"], count=1)
    assert answer.found[0][0][0] == "queen"
    assert answer.points == ("man", "woman", "king", GOAL, "queen")
    assert answer.cosines == pytest.approx((0, 0.6, 0), abs=1e-6)
    allowed = ask_words(vectors, ["man", "woman", "king"], count=5, exclude=False)
    assert allowed.points == ("man", "woman", "king", GOAL, "queen", "apple")


def test_the_map_by_hand():
    # Along the first axis −3, 0, 3, along the second −1, 2, −1 around the mean; nothing else.
    places, shares = flat_map(torch.tensor([[0.0, 1, 7], [3, 4, 7], [6, 1, 7]]))
    expected = torch.tensor([[3.0, -1], [0, 2], [-3, -1]], dtype=torch.double)
    torch.testing.assert_close(places[:, 1], expected[:, 1])
    torch.testing.assert_close(places[:, 0].abs(), expected[:, 0].abs())
    assert shares.tolist() == pytest.approx([18 / 24, 6 / 24])


def test_a_single_point_and_equal_points_have_no_spread():
    for vectors in (torch.ones(1, 3), torch.ones(4, 3)):
        places, shares = flat_map(vectors)
        assert places.abs().max() == 0
        assert shares.tolist() == [0, 0]


def test_distances_in_a_plane_stay_as_they_are():
    flat = torch.randn(11, 2, dtype=torch.double) @ torch.randn(2, 7, dtype=torch.double)
    places, shares = flat_map(flat)
    torch.testing.assert_close(torch.cdist(places, places), torch.cdist(flat, flat))
    assert math.isclose(float(shares.sum()), 1, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["man"] * 4, ValueError, "words must"),
        (["pear"], ValueError, "words must"),
    ],
)
def test_a_wrong_question_is_named(vectors, words, error, message):
    with pytest.raises(error, match=message):
        ask_words(vectors, words)
