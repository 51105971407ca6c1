"""chrF and chrF++: equal to sacreBLEU, right by hand, clear about bad input."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from gates2heads.metrics.chrf import Chrf, corpus_chrf, sentence_chrf

TEXT = st.text("ab c.", max_size=11)


def draw_settings(draw):
    return {
        "char_order": draw.choice([1, 6, 6, 6]),
        "word_order": draw.choice([0, 0, 2, 2, 3]),
        "beta": draw.choice([1, 2, 2, 3]),
        "lowercase": draw.random() < 0.3,
        "whitespace": draw.random() < 0.3,
    }


def test_sentence_chrf_equals_sacrebleu_on_1200_cases(texts):
    source = texts(19)
    scores = set()
    for _ in range(1200):
        hypothesis, references = source.hypothesis_and_references()
        settings = draw_settings(source.random)
        theirs = CHRF(**settings).sentence_score(hypothesis, references).score
        ours = sentence_chrf(hypothesis, references, **settings).score
        assert ours == pytest.approx(theirs, abs=1e-9)
        scores.add(round(ours, 3))
    assert len(scores) > 500  # the cases are not all 0 or 100


def test_corpus_chrf_equals_sacrebleu_with_varying_numbers_of_references(texts):
    source = texts(23)
    for _ in range(200):
        pairs = [source.hypothesis_and_references() for _ in range(source.random.randint(1, 7))]
        hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
        settings = draw_settings(source.random)
        most = max(map(len, references))
        streams = [[r[k] if k < len(r) else None for r in references] for k in range(most)]
        reference_metric = CHRF(**settings)
        theirs = reference_metric.corpus_score(hypotheses, streams).score
        ours = corpus_chrf(hypotheses, references, **settings)
        assert ours.score == pytest.approx(theirs, abs=1e-9)
        signature = str(reference_metric.get_signature()).split("|version")[0]
        assert ours.signature.startswith(signature + "|")


def test_by_hand():
    # x = ab, s = abc, orders 1 and 2. characters: 2 of 2 and 2 of 3; pairs: 1 of 1 and 1 of 2
    # P = 1, R = (2/3 + 1/2) / 2 = 7/12; beta = 2: F = 5 P R / (4 P + R) = (35/12) / (55/12) = 7/11
    score = sentence_chrf("ab", "abc", char_order=2)
    assert score.precision == pytest.approx(100)
    assert score.recall == pytest.approx(100 * 7 / 12)
    assert score.score == pytest.approx(100 * 7 / 11)


def test_words_by_hand():
    # x = "b a", s = "a b": characters ba, ab match 2 of 2; words match 2 of 2; word pairs 0 of 1
    score = sentence_chrf("b a", "a b", char_order=1, word_order=2)
    assert score.score == pytest.approx(100 * (1 + 1 + 0) / 3)


def test_sentence_statistics_add_up_to_the_corpus(texts):
    source = texts(29)
    pairs = [source.hypothesis_and_references() for _ in range(17)]
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    metric = Chrf(word_order=2)
    statistics = metric.statistics(hypotheses, references)
    assert statistics.shape == (17, 3 * 8)
    total = statistics.sum(axis=0)
    assert metric.from_statistics(total).score == metric.corpus(hypotheses, references).score


@given(TEXT, TEXT, TEXT)
@example("", "", "")
@example("a", " ", ".")
@example("a.", "a .", "\u2028")
def test_score_lies_in_range_and_another_reference_never_lowers_it(text, reference, other):
    one, two = sentence_chrf(text, reference), sentence_chrf(text, [reference, other])
    assert 0 <= one.score <= two.score <= 100 + 1e-9


@given(TEXT.filter(str.strip))
def test_a_copy_scores_100(text):
    assert sentence_chrf(text, text, word_order=2).score == pytest.approx(100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"char_order": 0}, "char_order must"),
        ({"word_order": -1}, "word_order must"),
        ({"beta": 0}, "beta must"),
        ({"beta": math.nan}, "beta must"),
        ({"beta": "2"}, "beta must"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        corpus_chrf(["a"], [["a"]], **settings)


def test_bad_segments_and_counts_are_named():
    with pytest.raises(
        TypeError, match="each hypothesis must be a string, of which chrF counts the characters"
    ):
        corpus_chrf([["a"]], [[["a"]]])
    with pytest.raises(ValueError, match="hypotheses must"):
        corpus_chrf([], [])
    with pytest.raises(ValueError, match=r"total must"):
        Chrf().from_statistics([1, 2, 3])
    with pytest.raises(ValueError, match="total must"):
        Chrf().from_statistics([-1] * 18)


def test_more_matches_than_n_grams_are_refused():
    with pytest.raises(ValueError, match="total must"):
        Chrf().from_statistics([1, 1, 9] * 6)
    with pytest.raises(ValueError, match="got 2 matches of 3 and 1"):
        Chrf().from_statistics([3, 1, 2] + [0] * 15)
    assert Chrf().from_statistics([3, 3, 3] + [0] * 15).score == 100


def test_beta_may_be_as_large_or_small_as_numbers_go():
    """Recall counts β times as much: towards infinity only recall counts, towards 0 precision."""
    total = [4, 8, 2] + [0] * 15  # precision 1/2, recall 1/4
    assert Chrf(beta=1e200).from_statistics(total).score == pytest.approx(25)
    assert Chrf(beta=1e-200).from_statistics(total).score == pytest.approx(50)
    assert Chrf(beta=1).from_statistics(total).score == pytest.approx(100 / 3)
    assert Chrf(beta=1e308).from_statistics([4, 8, 0] + [0] * 15).score == 0
