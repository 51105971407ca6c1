"""ROUGE: equal to rouge-score, right by hand, pooled as the notes pool, clear about bad input."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer, lcs_ind

from gates2heads.metrics.rouge import common_subsequence, rouge_l, rouge_lsum, rouge_n

TOKENS = st.lists(st.sampled_from("abc"), max_size=11)


def ours(kind, hypothesis, references):
    if kind == "rougeL":
        return rouge_l(hypothesis, references)
    if kind == "rougeLsum":
        return rouge_lsum(hypothesis, references)
    return rouge_n(hypothesis, references, int(kind[-1]))


@pytest.mark.parametrize(
    ("kinds", "most"),
    [(["rouge1", "rouge2", "rouge3", "rouge4"], 37), (["rougeL", "rougeLsum"], 17)],
)
def test_equals_rouge_score_on_1200_cases_with_one_to_three_references(texts, kinds, most):
    source, scorer = texts(31), RougeScorer(kinds, use_stemmer=False)
    seen = Counter()
    for _ in range(1200):
        hypothesis, references = source.hypothesis_and_references(most=most)
        theirs = scorer.score_multi(references, hypothesis)
        for kind in kinds:
            score = ours(kind, hypothesis, references)
            assert score == pytest.approx(tuple(theirs[kind]), abs=1e-12)
            seen[kind] += 0 < score.f_measure < 1
    assert all(seen[kind] > 100 for kind in kinds)  # the cases are not all 0 or 1


@given(TOKENS, TOKENS)
def test_common_subsequence_equals_rouge_scores_choice(reference, hypothesis):
    assert common_subsequence(reference, hypothesis) == lcs_ind(reference, hypothesis)


def test_by_hand():
    # x = the cat sat on the mat (6), s = the cat is on the mat (6)
    # unigrams 5 of 6; bigrams 3 of 5; LCS = the cat on the mat, 5 of 6
    x, s = "the cat sat on the mat", "the cat is on the mat"
    assert rouge_n(x, s) == pytest.approx((5 / 6, 5 / 6, 5 / 6))
    assert rouge_n(x, s, 2) == pytest.approx((3 / 5, 3 / 5, 3 / 5))
    assert rouge_l(x, s) == pytest.approx((5 / 6, 5 / 6, 5 / 6))
    assert common_subsequence(s.split(), x.split()) == [0, 1, 3, 4, 5]


def test_precision_is_against_the_hypothesis_and_recall_against_the_reference():
    # 2 matches; 3 words in x, 5 in s; F = 2 · 2 / (3 + 5)
    assert rouge_n("a b x", "a b c d e") == pytest.approx((2 / 3, 2 / 5, 1 / 2))


def test_pooling_by_hand():
    # x = a b; s1 = a b c (2 of 3 match), s2 = b d e f g (1 of 5): recall (2 + 1) / (3 + 5)
    # precision (2 + 1) / (2 · 2); the best single reference is s1: 2/2 and 2/3
    pooled = rouge_n("a b", ["a b c", "b d e f g"], pooling="pooled")
    assert pooled[:2] == pytest.approx((3 / 4, 3 / 8))
    assert rouge_n("a b", ["a b c", "b d e f g"])[:2] == pytest.approx((1, 2 / 3))


def test_summary_by_hand():
    # Lin 2004, section 3.2: s = 1 2 3 4 5; x = (1 2 6 7 8), (1 3 8 9 5)
    # LCS 1 2 and 1 3 5, union 1 2 3 5: recall 4/5, precision 4/10
    score = rouge_lsum("1 2 6 7 8\n1 3 8 9 5", "1 2 3 4 5")
    assert score[:2] == pytest.approx((4 / 10, 4 / 5))


def test_summary_counts_no_token_twice():
    # both reference sentences find the only "a": 1 hit, recall 1/2
    assert rouge_lsum("a", "a\na")[:2] == pytest.approx((1, 1 / 2))


def test_word_order_matters_to_l_and_not_to_unigrams():
    assert rouge_n("b a", "a b").f_measure == 1
    assert rouge_l("b a", "a b").f_measure == 1 / 2


def test_chinese_needs_the_character_tokenizer():
    assert rouge_l("猫坐在垫子上", "猫在垫子上").f_measure == 0
    assert rouge_l("猫坐在垫子上", "猫在垫子上", tokenize="char").recall == 1
    assert rouge_lsum("猫坐着", "猫", tokenize="char").recall == 1
    assert rouge_n(list("猫坐着"), [list("猫")]).recall == 1


@given(TOKENS, st.lists(TOKENS, min_size=1, max_size=3), st.integers(1, 3))
def test_pooled_recall_is_equation_15_42(tokens, references, order):
    def count(words):
        return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))

    top = sum(min(count(tokens)[w], c) for s in references for w, c in count(s).items())
    bottom = sum(sum(count(s).values()) for s in references)
    recall = rouge_n(tokens, references, order, pooling="pooled").recall
    assert recall == pytest.approx(top / bottom if bottom else 0)


@given(TOKENS, TOKENS)
def test_swapping_the_texts_swaps_precision_and_recall(tokens, others):
    for metric in (rouge_n, rouge_l):
        there, back = metric(tokens, [others]), metric(others, [tokens])
        assert there == pytest.approx((back.recall, back.precision, back.f_measure))


@given(TOKENS, TOKENS)
def test_a_common_subsequence_is_no_longer_than_the_shared_words(tokens, others):
    assert rouge_l(tokens, [others]).recall <= rouge_n(tokens, [others]).recall


@given(TOKENS, st.lists(TOKENS, min_size=1, max_size=3))
def test_with_one_reference_pooling_changes_nothing(tokens, references):
    one = references[:1]
    pooled, best = rouge_n(tokens, one, pooling="pooled"), rouge_n(tokens, one)
    assert pooled == pytest.approx(best)


@pytest.mark.parametrize("metric", [rouge_n, rouge_l, rouge_lsum])
@pytest.mark.parametrize(
    ("hypothesis", "references", "error", "message"),
    [
        (None, ["a"], TypeError, "hypothesis must"),
        ("a", None, TypeError, "references must"),
        ("a", [], ValueError, "references must"),
        ("a", [float("nan")], TypeError, "each reference of references must be a string or a list"),
    ],
)
def test_bad_texts_are_named(metric, hypothesis, references, error, message):
    with pytest.raises(error, match=message):
        metric(hypothesis, references)


def test_bad_choices_are_named():
    with pytest.raises(TypeError, match="hypothesis must"):
        rouge_lsum(["a"], [["a"]])
    with pytest.raises(TypeError, match="reference must"):
        common_subsequence(3, "a")
