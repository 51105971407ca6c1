"""BLEU: n-gram precision of a translation against its references, and brevity penalty.

`Bleu` stores the settings and computes the score; `corpus_bleu` and `sentence_bleu` are shortcuts.
BLEU is not a mean of sentence scores: counts are added over the test set and divided once. The
counts of each sentence are therefore stored separately (`Bleu.statistics`) for the paired
bootstrap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gates2heads.accepts import accepts, choice, flag, listed, natural, number
from gates2heads.metrics.ngrams import (
    clipped_matches,
    count_ngrams,
    most_in_any,
    read_counts,
)
from gates2heads.metrics.sentences import TOKENIZERS, choose_tokenizer, cut, read_pair, read_pairs
from gates2heads.metrics.smoothing import SMOOTHING, modified_precisions

__all__ = [
    "Bleu",
    "BleuScore",
    "brevity_penalty",
    "corpus_bleu",
    "sentence_bleu",
]


@dataclass(frozen=True)
class BleuScore:
    """A BLEU score and all its components.

    Attributes:
        score: BLEU, 0 to 100.
        precisions: P_n after smoothing in percent, one for each order.
        matches: clipped n-gram matches, one for each order.
        totals: n-grams of the hypotheses, one for each order.
        brevity_penalty: 0 to 1.
        hypothesis_length: in tokens.
        reference_length: in tokens, the sum of the closest reference length of each sentence.
        signature: the settings of the score, in sacreBLEU's format.
    """

    score: float
    precisions: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int
    signature: str = ""

    def __str__(self):
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU = {self.score:.2f} {precisions} (BP = {self.brevity_penalty:.3f} "
            f"hyp_len = {self.hypothesis_length} ref_len = {self.reference_length})"
        )


@accepts(hypothesis_length=natural(least=0), reference_length=natural(least=0))
def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    """Lower the score of a hypothesis that is shorter than its reference.

    b = 1 if l_x > l_s, else exp(1 - l_s / l_x). At l_x = l_s both branches give 1.

    Source: Papineni et al. 2002, section 2.3. An empty hypothesis gets the limit 0, and 1 where the
    reference is empty too.
    """
    if hypothesis_length > reference_length:
        return 1.0
    if hypothesis_length == 0:
        return float(reference_length == 0)
    return math.exp(1 - reference_length / hypothesis_length)


def _closest_length(hypothesis_length: int, reference_lengths: Sequence[int]) -> int:
    """Choose the reference length nearest to the hypothesis; of two equally near, the shorter."""
    return min(reference_lengths, key=lambda length: (abs(length - hypothesis_length), length))


def _weighted_geometric_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return exp(sum of w_n log v_n), the weights scaled to a sum of 1. A zero value gives 0."""
    used = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight > 0]
    if not used or any(value == 0 for value, _ in used):
        return 0.0
    scale = sum(weight for _, weight in used)
    return math.exp(sum(weight * math.log(value) for value, weight in used) / scale)


def _check_weights(weights, order: int) -> None:
    if len(weights) != order:
        raise ValueError(f"weights must be a list of {order} numbers, got {len(weights)}")
    if not math.isclose(sum(weights), 1, abs_tol=1e-6):
        raise ValueError(f"weights must sum to 1, got {sum(weights):g}")


@accepts(
    max_ngram_order=natural(most=100),
    weights=listed("numbers", kind=number(least=0)),
    tokenize=choice(TOKENIZERS),
    lowercase=flag,
    smooth_method=choice(SMOOTHING),
    smooth_value=number(least=0),
    effective_order=flag,
)
@dataclass(frozen=True)
class Bleu:
    """BLEU with its settings.

    Source: Papineni et al. 2002; eq. 15.39–15.41 of the notes; names and conventions of sacreBLEU
    (Post 2018). Adds weights, and token lists as input.

    Args:
        max_ngram_order: N, the longest n-gram.
        weights: N weights w_n that sum to 1; equal ones by default.
        tokenize: `13a` (default for strings), `none`, `char` or `rouge`; None for token lists.
        lowercase: compare in lower case.
        smooth_method: `exp` (default), `none`, `floor` or `add-k`; see `smoothing`.
        smooth_value: for `floor` and `add-k`.
        effective_order: leave out orders longer than the hypothesis, as is needed for single
            sentences.
    """

    max_ngram_order: int = 4
    weights: Sequence[float] | None = None
    tokenize: str | None = None
    lowercase: bool = False
    smooth_method: str = "exp"
    smooth_value: float | None = None
    effective_order: bool = False

    def __post_init__(self):
        if self.weights is not None:
            _check_weights(self.weights, self.max_ngram_order)

    def statistics(self, hypotheses, references) -> np.ndarray:
        """Count each sentence separately: BLEU's statistics, which are additive.

        Args:
            hypotheses: N strings or N token lists.
            references: N lists of references; a lone string is one reference.
        Returns:
            (N, 2 + 2 max_ngram_order) int: hypothesis length, closest reference length, clipped
            matches of each order, totals of each order.
        Raises:
            TypeError, ValueError: see `read_pairs`.
        """
        return self._count(read_pairs(hypotheses, references))

    def _count(self, pairs) -> np.ndarray:
        tokenizer = choose_tokenizer(self.tokenize, pairs[0][0], "13a")
        rows = []
        for hypothesis, references in pairs:
            tokens = cut(hypothesis, tokenizer, lowercase=self.lowercase)
            its_references = [cut(ref, tokenizer, lowercase=self.lowercase) for ref in references]
            rows.append(self._count_sentence(tokens, its_references))
        return np.array(rows, dtype=np.int64)

    def _count_sentence(self, tokens, references) -> list[int]:
        matches, totals = [], []
        for order in range(1, self.max_ngram_order + 1):
            ceiling = most_in_any(count_ngrams(reference, order) for reference in references)
            matches.append(clipped_matches(tokens, order, ceiling))
            totals.append(max(len(tokens) - order + 1, 0))
        closest = _closest_length(len(tokens), [len(reference) for reference in references])
        return [len(tokens), closest, *matches, *totals]

    def from_statistics(self, total, *, signature: str = "") -> BleuScore:
        """Turn counts, added over any set of sentences, into the score (eq. 15.41).

        Args:
            total: (2 + 2 max_ngram_order,) the columns of `statistics`, summed.
            signature: carried into the result.
        Raises:
            ValueError: the number of counts is wrong, or one is negative or NaN.
        """
        order = self.max_ngram_order
        total = read_counts(total, 2 + 2 * order)
        hypothesis_length, reference_length, *counts = total
        matches, totals = counts[:order], counts[order:]
        precisions = modified_precisions(matches, totals, self.smooth_method, self.smooth_value)
        effective = len(precisions)
        precisions += [0.0] * (order - effective)
        used = effective if self.effective_order else order
        weights = self.weights or [1 / order] * order
        penalty = brevity_penalty(hypothesis_length, reference_length)
        return BleuScore(
            score=penalty * _weighted_geometric_mean(precisions[:used], weights[:used]),
            precisions=tuple(precisions),
            matches=tuple(matches),
            totals=tuple(totals),
            brevity_penalty=penalty,
            hypothesis_length=hypothesis_length,
            reference_length=reference_length,
            signature=signature,
        )

    def corpus(self, hypotheses, references) -> BleuScore:
        """Score a test set: counts are added over all sentences, then divided once."""
        return self._score(read_pairs(hypotheses, references))

    def sentence(self, hypothesis, references) -> BleuScore:
        """Score one hypothesis against its references."""
        return self._score([read_pair(hypothesis, references)])

    def _score(self, pairs) -> BleuScore:
        total = self._count(pairs).sum(axis=0)
        return self.from_statistics(total, signature=self._signature(pairs))

    def _signature(self, pairs) -> str:
        numbers = {len(references) for _, references in pairs}
        value = SMOOTHING[self.smooth_method]
        if value is not None and self.smooth_value is not None:
            value = self.smooth_value
        parts = {
            "nrefs": numbers.pop() if len(numbers) == 1 else "var",
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": choose_tokenizer(self.tokenize, pairs[0][0], "13a"),
            "smooth": self.smooth_method + ("" if value is None else f"[{value:.2f}]"),
            "order": self.max_ngram_order,
        }
        if self.weights is not None:
            parts["weights"] = "/".join(f"{weight:.3g}" for weight in self.weights)
        return "|".join(f"{name}:{part}" for name, part in parts.items()) + "|version:gates2heads"


def corpus_bleu(hypotheses, references, **settings) -> BleuScore:
    """Return the BLEU of a test set. Arguments: see `Bleu.statistics`; settings: see `Bleu`."""
    return Bleu(**settings).corpus(hypotheses, references)


def sentence_bleu(hypothesis, references, **settings) -> BleuScore:
    """Return the BLEU of one sentence, with `effective_order` by default."""
    return Bleu(**{"effective_order": True, **settings}).sentence(hypothesis, references)
