"""The walk of `nonsense.py` through how texts, vectors and models are judged."""

import math

import numpy as np
import torch

from gates2heads.metrics.agreement import largest_difference
from gates2heads.metrics.bleu import Bleu, brevity_penalty, corpus_bleu
from gates2heads.metrics.chrf import Chrf, corpus_chrf
from gates2heads.metrics.detection import area_under_curve
from gates2heads.metrics.exact_match import exact_match, parts_right
from gates2heads.metrics.ngrams import count_ngrams, read_counts
from gates2heads.metrics.perplexity import (
    mean_surprisal,
    perplexity,
    perplexity_base2,
    perplexity_geometric,
)
from gates2heads.metrics.rouge import common_subsequence, rouge_l, rouge_lsum, rouge_n
from gates2heads.metrics.sentences import cut, read_pair, read_pairs
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.metrics.smoothing import modified_precisions
from gates2heads.metrics.word_vectors import WordVectors, rank_correlation
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    HUGE,
    LISTS,
    POSITIVES,
    SHARES,
    THINGS,
    floats,
    through,
    walk,
)

NUMBERS = [x for x in COUNTS if not isinstance(x, torch.Tensor)]
LENGTHS = [x for x in NUMBERS if type(x) is not int or x]  # 0 is a length
SEGMENTS = [*LISTS, [2.5], [None], [["a"]]]
CORPORA = [*LISTS, "ab", [], [3], [None], ["a", "b", "c"]]
REFERENCES = [*LISTS, [], [3], [[3]], [[]], ["a"]]
TOTALS = [*THINGS, None, 3, [], [1], [math.nan] * 10, ["a"] * 10, [-1] * 10]
LOG_PROBS = [*THINGS, None, 3, [-1.0], torch.zeros(2, 3).long(), torch.ones(2, 3), torch.zeros(0)]
REAL = [*THINGS, [True], torch.ones(2, 3), torch.ones(3).bool(), torch.zeros(2, 3).bool()]
SCORED = {"log_probs": -torch.rand(2, 3), "mask": torch.ones(2, 3).bool()}
WRONG_SCORED = {"log_probs": LOG_PROBS, "mask": REAL}
PAIR = {"hypothesis": "a b", "references": ["a b"]}
WRONG_PAIR = {"hypothesis": SEGMENTS, "references": [*LISTS, [], [3], [["a"]]]}
CORPUS = {"hypotheses": ["a b", "b"], "references": [["a b"], ["c"]]}
WRONG_CORPUS = {"hypotheses": CORPORA, "references": REFERENCES}
STATISTICS = np.ones((5, 2))
WRONG_STATISTICS = [*THINGS, None, [], np.full((2, 2), math.nan), np.ones((2, 2, 2))]
VECTORS = WordVectors(["a", "b", "c", "d"], floats(4, 3))
UNKNOWN = [*THINGS, None, 3, [], "z"]
QUESTIONS = [*LISTS, [3], [("a",)], ["ab"], [None]]


def square(*inputs):
    return sum(inputs) ** 2


ENTRIES = {
    "largest_difference": (
        largest_difference,
        {"ours": square, "theirs": square, "inputs": [floats(3)]},
        {
            "ours": [*THINGS, None, 3, floats(2), lambda x: x[:2], lambda x: 3],
            "theirs": [*THINGS, None, 3, floats(2), lambda x: x[:2], lambda x: 3],
            "inputs": [*LISTS, [], "ab", [3]],
        },
    ),
    "brevity_penalty": (
        brevity_penalty,
        {"hypothesis_length": 3, "reference_length": 4},
        {"hypothesis_length": LENGTHS, "reference_length": LENGTHS},
    ),
    "Bleu": (
        Bleu,
        {
            "max_ngram_order": 2,
            "weights": [0.5, 0.5],
            "tokenize": "char",
            "lowercase": True,
            "smooth_method": "floor",
            "smooth_value": 0.1,
            "effective_order": True,
        },
        {
            "max_ngram_order": [*NUMBERS, 101],
            "weights": [object(), 3, 2.5, [], [1], ["a", "b"], [math.nan, 1], [-1, 2]],
            "tokenize": [x for x in CHOICES if x is not None],
            "lowercase": FLAGS,
            "smooth_method": CHOICES,
            "smooth_value": [*THINGS, -1, math.nan, math.inf, []],
            "effective_order": FLAGS,
        },
    ),
    "corpus_bleu": (corpus_bleu, CORPUS, WRONG_CORPUS),
    "Bleu.corpus": (Bleu().corpus, CORPUS, WRONG_CORPUS),
    "Bleu.sentence": (Bleu().sentence, PAIR, WRONG_PAIR),
    "Bleu.statistics": (Bleu().statistics, CORPUS, WRONG_CORPUS),
    "Bleu.from_statistics": (Bleu().from_statistics, {"total": [1] * 10}, {"total": TOTALS}),
    "Chrf": (
        Chrf,
        {"char_order": 3, "word_order": 2, "beta": 1, "lowercase": True, "whitespace": True},
        {
            "char_order": [*NUMBERS, 101],
            "word_order": [*LENGTHS, 101],
            "beta": POSITIVES,
            "lowercase": FLAGS,
            "whitespace": FLAGS,
        },
    ),
    "corpus_chrf": (corpus_chrf, CORPUS, WRONG_CORPUS),
    "Chrf.corpus": (Chrf().corpus, CORPUS, WRONG_CORPUS),
    "Chrf.sentence": (Chrf().sentence, PAIR, WRONG_PAIR),
    "Chrf.statistics": (Chrf().statistics, CORPUS, WRONG_CORPUS),
    "Chrf.from_statistics": (
        Chrf().from_statistics,
        {"total": [1] * 18},
        {"total": [*THINGS, None, 3, [], [1], [math.nan] * 18]},
    ),
    "exact_match": (
        exact_match,
        {"hypotheses": ["a"], "references": ["a"]},
        {"hypotheses": CORPORA, "references": CORPORA},
    ),
    "parts_right": (
        parts_right,
        {"hypotheses": ["a b"], "references": ["a c"], "separator": " "},
        {"hypotheses": CORPORA, "references": CORPORA, "separator": [*LISTS, ""]},
    ),
    "count_ngrams": (
        count_ngrams,
        {"tokens": ["a"], "order": 1},
        {"tokens": [*LISTS, [["a"]]], "order": NUMBERS[:-1]},  # none is too long: it counts nothing
    ),
    "read_counts": (
        through(read_counts, lambda total: read_counts(total, 10)),
        {"total": [1] * 10},
        {"total": TOTALS},
    ),
    "mean_surprisal": (
        mean_surprisal,
        {**SCORED, "unit": "bits"},
        {**WRONG_SCORED, "unit": CHOICES},
    ),
    **{
        form.__name__: (form, SCORED, WRONG_SCORED)
        for form in (perplexity, perplexity_base2, perplexity_geometric)
    },
    "rouge_n": (
        rouge_n,
        {**PAIR, "order": 1, "pooling": "pooled", "tokenize": "char"},
        {
            **WRONG_PAIR,
            "order": NUMBERS,
            "pooling": CHOICES,
            "tokenize": [x for x in CHOICES if x is not None],
        },
    ),
    **{
        form.__name__: (
            form,
            {**PAIR, "tokenize": "char"},
            {**WRONG_PAIR, "tokenize": [x for x in CHOICES if x is not None]},
        )
        for form in (rouge_l, rouge_lsum)
    },
    "common_subsequence": (
        common_subsequence,
        {"reference": ["a"], "hypothesis": ["a"]},
        {"reference": LISTS, "hypothesis": LISTS},
    ),
    "cut": (
        cut,
        {"segment": "a b", "tokenize": "char", "lowercase": True},
        {"segment": SEGMENTS, "tokenize": CHOICES, "lowercase": FLAGS},
    ),
    "read_pair": (read_pair, PAIR, WRONG_PAIR),
    "read_pairs": (read_pairs, CORPUS, WRONG_CORPUS),
    "paired_bootstrap": (
        paired_bootstrap,
        {
            "statistics_a": STATISTICS,
            "statistics_b": STATISTICS,
            "score": lambda total: float(total[0]),
            "resamples": 7,
            "confidence": 0.9,
            "seed": 1,
        },
        {
            "statistics_a": WRONG_STATISTICS,
            "statistics_b": WRONG_STATISTICS,
            "score": [*THINGS, None, lambda total: "a"],
            "resamples": [*NUMBERS, 10**9],
            "confidence": [*SHARES, 0, 1],
            "seed": [-1, "a", 2.5, HUGE * -1],
        },
    ),
    "modified_precisions": (
        modified_precisions,
        {"matches": [1, 0], "totals": [3, 2], "smooth_method": "floor", "smooth_value": 0.1},
        {
            "matches": [*LISTS, [1], [4, 4], [-1, 0], ["a", "b"]],
            "totals": [*LISTS, [1], [0, 0], ["a", "b"]],
            "smooth_method": CHOICES,
            "smooth_value": [*THINGS, -1, math.nan],
        },
    ),
    "WordVectors": (
        WordVectors,
        {"words": ["a", "b"], "vectors": floats(2, 3)},
        {
            "words": [*LISTS, "ab", ["a"], ["a", "a"], ["a", 3], ["a", ["b"]]],
            "vectors": [*THINGS, None, 3, torch.ones(2, 3).long(), floats(3, 2), floats(2)],
        },
    ),
    "unit_vector": (VECTORS.unit_vector, {"word": "a"}, {"word": UNKNOWN}),
    "similarity": (
        VECTORS.similarity,
        {"first": "a", "second": "b"},
        {"first": UNKNOWN, "second": UNKNOWN},
    ),
    "nearest": (VECTORS.nearest, {"word": "a", "count": 2}, {"word": UNKNOWN, "count": NUMBERS}),
    "analogy": (
        VECTORS.analogy,
        {"a": "a", "b": "b", "c": "c", "count": 1},
        {"a": UNKNOWN, "b": UNKNOWN, "c": UNKNOWN, "count": NUMBERS},
    ),
    "analogy_accuracy": (
        VECTORS.analogy_accuracy,
        {"questions": [("a", "b", "c", "d")]},
        {"questions": QUESTIONS},
    ),
    "agreement": (
        VECTORS.agreement,
        {"pairs": [("a", "b", 1.0), ("a", "c", 2.0)]},
        {"pairs": [*QUESTIONS, [("a", "b", "c")]]},
    ),
    "area_under_curve": (
        area_under_curve,
        {"scores": floats(2, 3), "labels": torch.tensor([True, False])},
        {
            "scores": [
                *(*THINGS, None, 3, [1.0], floats(3), floats(3, 2), floats(2, 3, 1)),
                floats(2, 3) * math.nan,
            ],
            "labels": [*THINGS, None, 3, [True], torch.ones(2), torch.ones(2).bool()],
        },
    ),
    "rank_correlation": (
        rank_correlation,
        {"first": floats(3), "second": floats(3)},
        {
            "first": [*THINGS, None, 3, [1.0], floats(2), floats(1), floats(3, 3)],
            "second": [*THINGS, None, 3, [1.0], floats(2), floats(1), floats(3, 3)],
        },
    ),
}
SAME = {"first": ["word"], "second": ["word"], **{letter: ["word"] for letter in "abc"}}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)
