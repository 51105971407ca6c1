"""Metrics against the libraries that readers know: seconds of both in one run, and their ratio.

Corpus BLEU has an aim, at most once the time of sacreBLEU; the other metrics are only told.
"""

import random
import string

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.chrf import Chrf
from gates2heads.metrics.rouge import rouge_l, rouge_n
from gates2heads.metrics.significance import paired_bootstrap


def write_corpus(sentences):
    """Give hypotheses and references: Zipf's law, marks and numbers, 3 words in 10 wrong."""
    chance = random.Random(7)
    words = ["".join(chance.choices(string.ascii_lowercase, k=n % 8 + 2)) for n in range(7919)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    hypotheses, references = [], []
    for _ in range(sentences):
        right = chance.choices(words, weights, k=chance.randint(8, 35))
        right[3] += ","
        right[5] = chance.choice([right[5], "3,400.5", "(see", "1-2"])
        wrong = [word if chance.random() < 0.7 else chance.choice(words) for word in right]
        references.append(" ".join(right).capitalize() + ".")
        hypotheses.append(" ".join(wrong).capitalize() + ".")
    return hypotheses, references


def bleu(hypotheses, references):
    """Corpus BLEU, 13a; a fresh sacreBLEU metric each time, so that no cache carries over."""
    return (
        lambda: Bleu().corpus(hypotheses, references).score,
        lambda: BLEU().corpus_score(hypotheses, [references]).score,
    )


def bleu_of_tokens(hypotheses, references):
    """Corpus BLEU of texts cut already: token lists here, joined strings there."""
    hypothesis_tokens = [text.split() for text in hypotheses]
    reference_tokens = [[text.split()] for text in references]
    return (
        lambda: Bleu().corpus(hypothesis_tokens, reference_tokens).score,
        lambda: BLEU(tokenize="none").corpus_score(hypotheses, [references]).score,
    )


def chrf(hypotheses, references):
    """Corpus chrF2."""
    return (
        lambda: Chrf().corpus(hypotheses, references).score,
        lambda: CHRF().corpus_score(hypotheses, [references]).score,
    )


def chrf_plus_plus(hypotheses, references):
    """Corpus chrF2++."""
    return (
        lambda: Chrf(word_order=2).corpus(hypotheses, references).score,
        lambda: CHRF(word_order=2).corpus_score(hypotheses, [references]).score,
    )


def rouge(hypotheses, references):
    """Mean F of ROUGE-1, ROUGE-2 and ROUGE-L."""
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    pairs = list(zip(hypotheses, references, strict=True))
    return (
        lambda: np.mean(
            [
                [s.f_measure for s in (rouge_n(h, r), rouge_n(h, r, 2), rouge_l(h, r))]
                for h, r in pairs
            ]
        ),
        lambda: np.mean([[s.fmeasure for s in scorer.score(r, h).values()] for h, r in pairs]),
    )


def bootstrap(hypotheses, references):
    """Paired bootstrap of BLEU with 1,000 resamples, from texts to p-value."""
    systems = [("copy", references), ("system", hypotheses)]

    def ours():
        metric = Bleu()
        statistics = [metric.statistics(texts, references) for _, texts in systems]
        return paired_bootstrap(*statistics, lambda total: metric.from_statistics(total).score)

    def theirs():
        test = PairedTest(systems, {"BLEU": BLEU()}, [references], "bs", 1000)
        return test()

    return ours, theirs


@pytest.mark.parametrize("sentences", [1000, 30_000])
@pytest.mark.parametrize("case", [bleu, bleu_of_tokens])
def test_corpus_bleu(in_turn, case, sentences):
    """The same score, in no more time."""
    ours, theirs = case(*write_corpus(sentences))
    assert ours() == pytest.approx(theirs(), abs=1e-9)
    name = f"{case.__name__}, {sentences:,} sentences".replace("_", " ")
    in_turn(name, "sacreBLEU", ours, theirs, rounds=3, at_most=1.0)


@pytest.mark.parametrize(
    ("case", "against", "sentences"),
    [
        (chrf, "sacreBLEU", 1000),
        (chrf_plus_plus, "sacreBLEU", 1000),
        (rouge, "rouge-score", 300),
        (bootstrap, "sacreBLEU", 300),
    ],
)
def test_other_metrics(in_turn, case, against, sentences):
    """Told without an aim."""
    ours, theirs = case(*write_corpus(sentences))
    name = f"{case.__name__}, {sentences:,} sentences".replace("_", " ")
    in_turn(name, against, ours, theirs, rounds=3)
