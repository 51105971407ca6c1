"""Paired differences of word vectors, and the analogy baseline that looks at c alone."""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.word_tests import analogies, word_similarity
from gates2heads.metrics.words.vectors import WordVectors, rank_correlation
from studies.ch02 import differences, evaluation
from tests.needs import needs_data

# b − a + c is (0, 1.8): its nearest other word is "far", that of c alone is "near".
WORDS = ["a", "b", "c", "far", "near"]
VECTORS = [[0.6, -0.8], [0.6, 0.8], [1, 0.0], [0.6, 0.8], [0.96, 0.28]]


def test_every_kind_of_vectors_is_stored():
    rows = read_study("ch02/differences")
    assert [(row["setting"], row["seed"]) for row in rows] == [
        (setting, seed) for setting in differences.SETTINGS for seed in (0, 1, 2)
    ]
    for row in rows:
        one = row["result"]
        assert one["right_by_both"] <= one["right"]
        answered = one["gain"]["value"] + one["c_alone"]["value"]
        assert one["analogies"]["value"] == pytest.approx(answered)
        for test in (*differences.TESTS, "analogies", *differences.PRODUCTS):
            low, high = one[test]["interval_of_difference"]
            assert low <= one[test]["difference"] <= high


def test_counted_vectors_are_judged_as_in_the_evaluation():
    judged = read_study("ch02/evaluation")
    for setting in ("ppmi", "svd", "untrained"):
        ours = results_of(read_study("ch02/differences"), setting)[0]
        theirs = results_of(judged, f"descriptions, {setting}")[0]["judged"]
        for test in (*differences.TESTS, "analogies"):
            assert ours[test]["value"] == pytest.approx(theirs[test]["value"], abs=1e-3)
            assert ours[test]["used"] == theirs[test]["used"]


def test_the_baseline_looks_at_c_alone():
    vectors = WordVectors(WORDS, torch.tensor(VECTORS))
    found = differences.solved(
        vectors, [("a", "b", "c", "far"), ("a", "b", "c", "near"), ("a", "b", "c", "unknown")]
    )
    assert found["offset"].tolist() == [1, 0]
    assert found["c_alone"].tolist() == [0, 1]


def test_the_product_divides_by_the_cosine_with_a():
    rows = [[1, 0, 0, 0.0], [0, 1, 0, 0.0], [0, 0, 1, 0.0], [0.1, 0.6, 0.7, 0], [0.9, 0.6, 1, 0]]
    vectors = WordVectors(WORDS, F.normalize(torch.tensor(rows), dim=1))
    found = differences.solved(vectors, [("a", "b", "c", "far"), ("a", "b", "c", "near")])
    for name in (*differences.PRODUCTS, "offset"):
        assert found[name].tolist() == [1, 0]
    a, b, c = vectors.unit[:3] @ vectors.unit.T
    product = b * c / (a + differences.EPSILON)
    assert product[3] > product[4]


def test_cosines_with_negative_values_are_mapped():
    vectors = WordVectors(WORDS, torch.tensor(VECTORS))
    found = differences.solved(vectors, [("a", "b", "c", "far"), ("a", "b", "c", "near")])
    assert found["product"].tolist() == found["unmapped"].tolist()


def test_the_upper_half_has_the_highest_scores():
    pairs = [("a", "b", 1.0), ("b", "c", 5.0), ("c", "near", 4.0), ("a", "c", 3.0), ("a", "x", 2.0)]
    assert differences.upper_half(pairs) == [pairs[1], pairs[2]]


def test_the_restricted_tests_are_stored_with_their_sizes():
    for row in read_study("ch02/differences"):
        for part in ("restricted", "restricted_whole"):
            sizes = {name: one["used"] for name, one in row["result"][part].items()}
            for test in ("men", "simlex999"):
                everything = sizes[f"{test}, all, all words"]
                assert sizes[f"{test}, upper half, all words"] == everything // 2
                assert sizes[f"{test}, all, frequent"] < everything
        assert (
            row["result"]["restricted"]["men, all, all words"]["used"]
            == (row["result"]["men"]["used"])
        )


def test_the_statistics_add_up_to_spearmans_correlation():
    vectors = WordVectors(WORDS, torch.tensor(VECTORS))
    pairs = [("a", "b", 1.0), ("b", "c", 5.0), ("c", "near", 4.0), ("a", "c", 3.0), ("a", "x", 9.0)]
    statistics = differences.pair_statistics(vectors, pairs)
    assert statistics.shape == (4, 6)
    ours = torch.tensor([vectors.similarity(one, other) for one, other, _ in pairs[:4]])
    expected = rank_correlation(ours, torch.tensor([1.0, 5, 4, 3]))
    assert evaluation.correlation(statistics.sum(0)) == pytest.approx(expected, abs=1e-6)


def test_a_difference_is_paired():
    # The reference is right wherever the other is, and on three questions more.
    own = torch.tensor([1.0, 0, 0, 0, 1, 0, 1, 0]).double()
    reference = torch.tensor([1.0, 1, 0, 1, 1, 0, 1, 1]).double()
    found = differences.against(reference, own)
    assert found["value"] == 3 / 8
    assert found["difference"] == 3 / 8
    assert found["interval_of_difference"][0] >= 0
    assert differences.against(own, own)["interval_of_difference"] == [0, 0]


def test_the_ranks_for_cat_begin_with_one():
    words = ["cat", "dog", "while"]
    vectors = WordVectors(words, torch.tensor([[1.0, 0], [0.8, 0.6], [0, 1]]))
    assert differences.ranks_for_cat(vectors) == {"dog": 1, "while": 2}


def test_the_rank_of_frequent_words_is_their_median():
    words = ["cat", "dog", "while", "a"]
    vectors = WordVectors(words, torch.tensor([[1.0, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]]))
    # The neighbours of "cat" are dog, a, while; a noun is not its own neighbour.
    assert differences.ranks_of_frequent(vectors, ["cat"], ["a", "while", "cat"]) == [2.5]
    assert differences.ranks_of_frequent(vectors, ["cat", "a"], ["dog"]) == [1, 1]


def test_the_most_frequent_words_are_one_in_a_hundred():
    frequent = differences.most_frequent()
    assert len(frequent) == 113
    assert frequent[0] == "a"
    assert "while" in frequent


@needs_data
@pytest.mark.slow
def test_the_stored_results_are_those_of_the_shipped_vectors():
    vectors = shipped("words_cbow").model.compared()
    stored = results_of(read_study("ch02/differences"), "cbow")[0]
    agreed = vectors.agreement(word_similarity("men")[1::2])
    assert stored["men"]["used"] == agreed.used
    assert stored["men"]["value"] == pytest.approx(agreed.value, abs=1e-4)
    solved = vectors.analogy_accuracy(analogies()[1::2])
    assert stored["analogies"]["used"] == solved.used
    assert stored["analogies"]["value"] == pytest.approx(solved.value, abs=2.5 / solved.used)
