"""Word vectors judged: by hand, against gensim, and Spearman's correlation against SciPy."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.metrics.words.vectors import WordVectors, rank_correlation, ranks

# Two axes: man–woman and plain–royal; a fruit stands apart.
WORDS = ["man", "woman", "king", "queen", "apple"]
POINTS = torch.tensor([[3.0, 0, 0], [0, 3, 0], [3, 0, 4], [0, 3, 4], [-5, -5, -1]])
numbers = st.lists(st.integers(-7, 7), min_size=2, max_size=13)


@pytest.fixture
def vectors():
    return WordVectors(WORDS, POINTS)


def test_by_hand(vectors):
    # man · king = 9, lengths 3 and 5: 9 / 15.
    assert math.isclose(vectors.similarity("man", "king"), 0.6, rel_tol=1e-6)
    assert [word for word, _ in vectors.nearest("king", 2)] == ["queen", "man"]  # 16/25, 9/15
    assert vectors.analogy("man", "woman", "king")[0][0] == "queen"
    assert len(vectors.nearest("man", 99)) == 4
    assert len(vectors.analogy("man", "woman", "king", 99)) == 2
    assert ("apple" in vectors, "pear" in vectors) == (True, False)
    assert repr(vectors) == "WordVectors(5 words, width 3)"


def test_the_asked_words_may_answer(vectors):
    # woman − man + king points at (−1, 1, 0) + (3, 0, 4)/5: nearest by angle is queen, then woman
    open_ended = vectors.analogy("man", "woman", "king", 5, exclude=False)
    assert len(open_ended) == 5
    assert {word for word, _ in open_ended} == set(WORDS)
    # king − man lies along the royal axis: king itself stands at 4/5 of it, queen as well
    towards = vectors.towards("man", "king", 5, exclude=False)
    assert {word for word, _ in towards[:2]} == {"king", "queen"}
    assert [word for word, _ in vectors.towards("man", "king", 1)] == ["queen"]
    one = [("man", "woman", "man", "man")]
    assert vectors.analogy_accuracy(one).value == 0
    assert vectors.analogy_accuracy(one, exclude=False).value == 0


def test_accuracy_and_agreement_say_what_they_covered(vectors):
    questions = [
        ("man", "woman", "king", "queen", "family"),
        ("man", "king", "woman", "apple", "family"),
        ("man", "woman", "boy", "girl", "family"),
    ]
    assert vectors.analogy_accuracy(questions) == (0.5, 2, 3)
    pairs = [("man", "king", 5), ("king", "queen", 7), ("man", "apple", 1), ("man", "pear", 9)]
    assert vectors.agreement(pairs) == (pytest.approx(1), 3, 4)
    nothing = vectors.analogy_accuracy(questions[2:])
    assert math.isnan(nothing.value)
    assert (nothing.used, nothing.total) == (0, 1)


def test_nearest_and_analogy_agree_with_gensim():
    models = pytest.importorskip("gensim.models", reason="needs gensim")
    words, points = [f"w{i}" for i in range(31)], torch.randn(31, 7)
    ours, theirs = WordVectors(words, points), models.KeyedVectors(7)
    theirs.add_vectors(words, points.numpy())
    for mine, other in [
        (ours.nearest("w3", 5), theirs.most_similar("w3", topn=5)),
        (
            ours.analogy("w1", "w2", "w5", 5),
            theirs.most_similar(positive=["w2", "w5"], negative=["w1"], topn=5),
        ),
    ]:
        assert [word for word, _ in mine] == [word for word, _ in other]
        for (_, value), (_, reference) in zip(mine, other, strict=True):
            assert math.isclose(value, reference, abs_tol=1e-5)


def test_ranks_by_hand():
    # 5 5 share the places 2 and 3; 9 is fourth.
    assert ranks(torch.tensor([5, 2, 9, 5])).tolist() == [2.5, 1, 4, 2.5]


@given(numbers, st.data())
def test_rank_correlation_agrees_with_scipy(first, data):
    stats = pytest.importorskip("scipy.stats", reason="needs SciPy")
    second = data.draw(st.lists(st.integers(-7, 7), min_size=len(first), max_size=len(first)))
    ours = rank_correlation(torch.tensor(first), torch.tensor(second))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert math.isnan(ours)
    else:
        assert math.isclose(ours, stats.spearmanr(first, second).statistic, abs_tol=1e-9)


@given(numbers)
@example([0, 0])
@example([-7, 7])
def test_a_rising_function_keeps_the_ranks(values):
    first = torch.tensor(values).double()
    if len(set(values)) > 1:
        assert math.isclose(rank_correlation(first, first.exp()), 1)
        assert math.isclose(rank_correlation(first, -(first**3)), -1)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda v: v.nearest("pear"), ValueError, "word must"),
        (lambda v: v.towards("man", "pear"), ValueError, "b must"),
        (lambda v: v.analogy("man", "man", 3), ValueError, "c must"),
        (lambda v: v.similarity("man", ""), ValueError, "second must"),
        (lambda v: WordVectors(WORDS, POINTS[:3]), ValueError, "shape (5, D), one row per word"),
        (lambda v: WordVectors(["a"] * 5, POINTS), ValueError, "words must"),
        (lambda v: WordVectors(WORDS, POINTS / 0), ValueError, "vectors must"),
    ],
)
def test_a_mistake_gets_one_sentence(vectors, call, error, sentence):
    with pytest.raises(error) as caught:
        call(vectors)
    assert sentence in str(caught.value)


def test_a_vocabulary_of_three_words_has_no_answer_left():
    few = WordVectors(["a", "b", "c"], torch.eye(3))
    assert few.analogy("a", "b", "c") == []
    assert few.analogy_accuracy([("a", "b", "c", "a")]) == (0, 1, 1)


def test_what_has_no_rank_is_named():
    whole, good = torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^first must"):
        rank_correlation(whole, good)
    with pytest.raises(ValueError, match=r"^second must"):
        rank_correlation(good, whole)
    assert rank_correlation(
        torch.tensor([-math.inf, 0, math.inf]), torch.arange(3)
    ) == pytest.approx(1)


def test_half_precision_keeps_zero_and_long_vectors():
    # 300² is beyond its largest number, and the guard against 0 / 0 below its least.
    vectors = torch.tensor([[0, 0], [300, 400], [3, 4]]).half()
    unit = WordVectors(["zero", "long", "short"], vectors).unit
    assert unit.tolist() == [[0, 0], [pytest.approx(0.6), pytest.approx(0.8)], unit[2].tolist()]
    assert torch.equal(unit[1], unit[2])
