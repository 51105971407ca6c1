"""BLEU: equal to sacreBLEU, right by hand, monotone where it should be, clear about bad input."""

import itertools
import logging
import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from gates2heads.metrics.bleu import (
    Bleu,
    brevity_penalty,
    corpus_bleu,
    sentence_bleu,
)

TOKENS = st.lists(st.sampled_from("abc"), max_size=11)


@pytest.fixture(autouse=True)
def _no_advice_from_sacrebleu(caplog):
    caplog.set_level(logging.ERROR, logger="sacrebleu")


def draw_settings(draw):
    """Give settings in our words, all of which sacreBLEU shares except tokenize=None."""
    method = draw.choice(["none", "floor", "add-k", "exp"])
    value = draw.choice([None, 0.3, 2]) if method in ("floor", "add-k") else None
    return {
        "tokenize": draw.choice(["none", "13a", "char"]),
        "smooth_method": method,
        "smooth_value": value,
        "max_ngram_order": draw.choice([1, 2, 4, 4, 4, 7]),
        "effective_order": draw.random() < 0.5,
        "lowercase": draw.random() < 0.3,
    }


def assert_equal(ours, theirs, settings):
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.precisions == pytest.approx(theirs.precisions, abs=1e-9)
    assert ours.brevity_penalty == pytest.approx(theirs.bp, abs=1e-12)
    assert (ours.hypothesis_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)
    if settings["smooth_method"] != "add-k":  # sacreBLEU reports these counts with k added
        assert list(ours.matches) == list(theirs.counts)
        assert list(ours.totals) == list(theirs.totals)


def test_sentence_bleu_equals_sacrebleu_on_1500_cases(texts):
    source = texts(3)
    scores = set()
    for _ in range(1500):
        hypothesis, references = source.hypothesis_and_references()
        settings = draw_settings(source.random)
        theirs = BLEU(**settings).sentence_score(hypothesis, references)
        ours = sentence_bleu(hypothesis, references, **settings)
        assert_equal(ours, theirs, settings)
        scores.add(round(ours.score, 3))
    assert len(scores) > 500  # the cases are not all 0 or 100


def test_corpus_bleu_equals_sacrebleu_on_400_corpora_with_varying_numbers_of_references(texts):
    source = texts(5)
    for _ in range(400):
        pairs = [source.hypothesis_and_references() for _ in range(source.random.randint(1, 7))]
        hypotheses = [hypothesis for hypothesis, _ in pairs]
        references = [its_references for _, its_references in pairs]
        settings = draw_settings(source.random)
        most = max(map(len, references))
        streams = [[r[k] if k < len(r) else None for r in references] for k in range(most)]
        reference_metric = BLEU(**settings)
        theirs = reference_metric.corpus_score(hypotheses, streams)
        ours = corpus_bleu(hypotheses, references, **settings)
        assert_equal(ours, theirs, settings)
        signature = str(reference_metric.get_signature()).split("|version")[0]
        assert ours.signature.startswith(signature + "|")


def test_defaults_are_those_of_sacrebleu(texts):
    source = texts(7)
    pairs = [source.hypothesis_and_references(1) for _ in range(31)]
    hypotheses, references = [h for h, _ in pairs], [r[0] for _, r in pairs]
    theirs = sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert corpus_bleu(hypotheses, references).score == pytest.approx(theirs, abs=1e-9)
    theirs = sacrebleu.sentence_bleu(hypotheses[2], [references[2]]).score
    assert sentence_bleu(hypotheses[2], references[2]).score == pytest.approx(theirs, abs=1e-9)


def test_by_hand():
    # x = the cat sat on the mat (6 tokens), s = the cat is on the mat (6 tokens)
    # unigrams: the 2, cat 1, on 1, mat 1 match of 6: 5/6
    # bigrams: the cat, on the, the mat of 5: 3/5; equal lengths: b = 1
    score = corpus_bleu(
        ["the cat sat on the mat"],
        [["the cat is on the mat"]],
        max_ngram_order=2,
        smooth_method="none",
    )
    assert score.matches == (5, 3)
    assert score.totals == (6, 5)
    assert score.precisions == pytest.approx((100 * 5 / 6, 100 * 3 / 5))
    assert score.brevity_penalty == 1
    assert score.score == pytest.approx(100 * math.sqrt(5 / 6 * 3 / 5))


def test_repetition_is_clipped_at_the_most_that_one_reference_holds():
    # Papineni's example: "the" seven times; the references hold it 2 and 1 times: 2/7, not 7/7
    score = corpus_bleu([["the"] * 7], [[["the", "cat", "the"], ["the", "mat"]]], max_ngram_order=1)
    assert (score.matches, score.totals) == ((2,), (7,))


def test_weights_by_hand():
    # P_1 = 5/6 and P_2 = 3/5 as above, w = (1/4, 3/4)
    score = corpus_bleu(
        ["the cat sat on the mat"],
        [["the cat is on the mat"]],
        max_ngram_order=2,
        weights=(0.25, 0.75),
    )
    assert score.score == pytest.approx(100 * (5 / 6) ** 0.25 * (3 / 5) ** 0.75)
    assert "weights:0.25/0.75" in score.signature


def test_weight_zero_ignores_an_order_without_matches():
    # one matching unigram of two, no bigram: P = (1/2, 0); w = (1, 0)
    settings = {"max_ngram_order": 2, "smooth_method": "none"}
    assert corpus_bleu(["a b"], [["a c"]], weights=(1, 0), **settings).score == pytest.approx(50)
    assert corpus_bleu(["a b"], [["a c"]], **settings).score == 0


@pytest.mark.parametrize("length", [1, 2, 17, 10_007])
def test_both_branches_of_the_brevity_penalty_agree_at_equal_lengths(length):
    first_branch = 1.0  # l_x > l_s
    second_branch = math.exp(1 - length / length)  # l_x <= l_s
    assert brevity_penalty(length, length) == first_branch == second_branch


def test_brevity_penalty_by_hand_and_at_the_edges():
    assert brevity_penalty(5, 3) == 1
    assert brevity_penalty(2, 3) == pytest.approx(math.exp(-1 / 2))
    assert brevity_penalty(0, 3) == 0
    assert brevity_penalty(0, 0) == 1


@pytest.mark.parametrize(
    ("reference_lengths", "closest"), [((3, 7), 3), ((7, 3), 3), ((4, 6, 5), 5), ((9, 6), 6)]
)
def test_the_closest_reference_length_counts_and_of_two_the_shorter(reference_lengths, closest):
    references = [["r"] * length for length in reference_lengths]
    assert sentence_bleu(["x"] * 5, references).reference_length == closest


def test_tokens_and_strings_cut_at_white_space_agree(texts):
    source = texts(11)
    for _ in range(31):
        hypothesis, references = source.hypothesis_and_references()
        of_text = sentence_bleu(hypothesis, references, tokenize="none")
        of_tokens = sentence_bleu(hypothesis.split(), [ref.split() for ref in references])
        assert of_text == of_tokens


def test_token_ids_count_like_words():
    assert sentence_bleu([2, 3, 5, 7], [[2, 3, 5, 11]]).score == pytest.approx(
        sentence_bleu(list("abcd"), [list("abce")]).score
    )


def test_sentence_statistics_add_up_to_the_corpus(texts):
    source = texts(13)
    pairs = [source.hypothesis_and_references() for _ in range(17)]
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    statistics = Bleu().statistics(hypotheses, references)
    assert statistics.shape == (17, 10)
    added = Bleu().from_statistics(statistics.sum(axis=0))
    assert added.score == corpus_bleu(hypotheses, references).score


@given(TOKENS, st.lists(TOKENS, min_size=1, max_size=3))
def test_score_and_penalty_lie_in_range_and_one_more_reference_never_lowers_a_match(tokens, refs):
    few, many = sentence_bleu(tokens, refs[:1]), sentence_bleu(tokens, refs)
    assert 0 <= many.score <= 100 + 1e-9
    assert 0 <= many.brevity_penalty <= 1
    assert all(more >= less for more, less in zip(many.matches, few.matches, strict=True))


@given(TOKENS.filter(bool), st.lists(TOKENS, max_size=2))
def test_a_copy_of_a_reference_scores_100(tokens, others):
    assert sentence_bleu(tokens, [*others, tokens]).score == pytest.approx(100)


@given(TOKENS, TOKENS)
def test_a_longer_ngram_never_matches_more_often_than_a_shorter_one(tokens, reference):
    matches = sentence_bleu(tokens, [reference]).matches
    assert all(later <= earlier for earlier, later in itertools.pairwise(matches))


def test_text_of_the_score_shows_its_parts():
    text = str(corpus_bleu(["a b c"], [["a b d e"]], max_ngram_order=2))
    assert text == "BLEU = 41.37 66.7/50.0 (BP = 0.717 hyp_len = 3 ref_len = 4)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_ngram_order": 0}, "max_ngram_order must"),
        ({"max_ngram_order": 2.5}, "max_ngram_order must"),
        ({"smooth_method": "none such"}, "smooth_method must"),
        ({"smooth_method": ["exp"]}, "smooth_method must"),
        ({"smooth_value": -1}, "smooth_value must"),
        ({"smooth_value": math.nan}, "smooth_value must"),
        ({"smooth_value": "1"}, "smooth_value must"),
        ({"tokenize": "14b"}, "tokenize must"),
        ({"weights": [1, 1, 0, 0]}, "weights must"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        corpus_bleu(["a"], [["a"]], **settings)


def test_tokenizer_for_tokens_is_refused():
    with pytest.raises(ValueError, match="tokenize must"):
        corpus_bleu([["a"]], [[["a"]]], tokenize="13a")


@pytest.mark.parametrize(
    ("total", "message"),
    [
        ([1, 2, 3], r"total must"),
        ([[1] * 10], r"total must"),
        ([1] * 9 + [-1], "total must"),
        ([1] * 9 + [np.nan], "total must"),
        ([1] * 9 + [np.inf], "total must"),
        (["a"] * 10, "total must"),
        (None, "total must"),
    ],
)
def test_bad_counts_are_named(total, message):
    with pytest.raises(ValueError, match=message):
        Bleu().from_statistics(total)
