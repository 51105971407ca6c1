"""Significance tests for the comparison of two systems on the same test sentences.

The bootstrap resamples the test set: as many sentences, with replacement. Both systems are scored
on the same resampled sets (paired), so hard sentences affect both, and the difference is less
variable. The fraction of sets that A wins shows how far the ranking depends on the choice of
sentences.

A score is computed from statistics that add up over sentences, `Bleu.statistics` for BLEU or one
number per sentence for a mean. A resampled test set is then a new sum; no sentence is scored twice.

A proportion of correct outputs needs no resampling: Wilson's interval depends on two counts only.
"""

import math
from collections.abc import Callable
from numbers import Integral
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from torch import Tensor

from gates2heads.accepts import accepts, fraction, function, natural, number
from gates2heads.accepts.shown import shown

__all__ = [
    "Interval",
    "PairedBootstrap",
    "bootstrap_interval",
    "paired_bootstrap",
    "wilson_interval",
]

Score = Callable[[np.ndarray], float]


class Interval(NamedTuple):
    """The range that contains the middle part of the resampled scores."""

    low: float
    high: float


class PairedBootstrap(NamedTuple):
    """The outcome of a paired bootstrap.

    Attributes:
        score_a, score_b: on the whole test set.
        difference: score_a - score_b.
        interval_a, interval_b, interval_difference: over the resampled test sets.
        wins_a, wins_b, ties: the numbers of resampled sets on which A, B or neither was ahead.
        p_value: fraction of the sets on which the system that is ahead on the whole set does not
            win (Koehn 2004; one-sided); 1 where neither is ahead.
        p_value_centred: fraction of the sets on which the size of the difference exceeds its mean
            by more than the observed difference (as in sacreBLEU). Where it is small, only one
            tail of the distribution counts, so it is close to p_value, and one-sided like it.
    """

    score_a: float
    score_b: float
    difference: float
    interval_a: Interval
    interval_b: Interval
    interval_difference: Interval
    wins_a: int
    wins_b: int
    ties: int
    p_value: float
    p_value_centred: float


@accepts(score=function("total"), resamples=natural(most=1_000_000), confidence=fraction)
def paired_bootstrap(
    statistics_a,
    statistics_b,
    score: Score | None = None,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator = 12345,
) -> PairedBootstrap:
    """Compare two systems on the same sentences by paired bootstrap resampling.

    Source: Koehn 2004, section 4; both p-values count one more success among one more trial, so
    that neither is ever 0.

    Args:
        statistics_a: (N, d) numbers that add up over the N sentences, or (N,) one value a sentence.
        statistics_b: the same of the other system.
        score: turns a (d,) sum into a number, e.g.
            `lambda total: Bleu().from_statistics(total).score`; None with (N,) values: their mean.
        resamples: how many test sets to draw.
        confidence: share of the resampled scores inside an interval, between 0 and 1.
        seed: a whole number, or a numpy Generator.
    Raises:
        TypeError: score returns no number.
        ValueError: shapes differ, no sentence, NaN or inf, a confidence of 0 or 1, no score for
            (N, d) statistics.
    """
    statistics_a = _read(statistics_a, "statistics_a")
    statistics_b = _read(statistics_b, "statistics_b")
    if statistics_a.shape != statistics_b.shape:
        raise ValueError(
            "statistics_b must cover the same sentences as statistics_a, shape "
            f"{statistics_a.shape}, got {statistics_b.shape}"
        )
    both = np.concatenate([statistics_a, statistics_b], axis=1)  # (N, 2d)
    sums = np.concatenate([both.sum(axis=0)[None], _resample_sums(both, resamples, seed)])
    width = statistics_a.shape[1]
    scores_a = _score_all(sums[:, :width], score, len(both))  # (1 + R,), the whole set first
    scores_b = _score_all(sums[:, width:], score, len(both))
    return _summarise(scores_a, scores_b, confidence)


@accepts(score=function("total"), resamples=natural(most=1_000_000), confidence=fraction)
def bootstrap_interval(
    statistics,
    score: Score | None = None,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator = 12345,
) -> Interval:
    """Return the interval of one system's score over resampled test sets.

    Source: Koehn 2004, section 3. Arguments and errors: see `paired_bootstrap`.
    """
    statistics = _read(statistics, "statistics")
    sums = _resample_sums(statistics, resamples, seed)
    return _interval(_score_all(sums, score, len(statistics)), confidence)


@accepts(right=natural(least=0), total=natural, confidence=fraction)
def wilson_interval(right: int, total: int, *, confidence: float = 0.95) -> Interval:
    """Compute Wilson's interval of a proportion, which is never empty and is inside [0, 1].

    Source: Wilson 1927: the proportions from which the observed one is at most z standard errors
    away, each with its own standard error. The usual p ± z √(p (1 - p) / n) takes the observed
    one's, and near 0 or 1 it may contain values that the data exclude.

    Args:
        right: the number of correct outputs.
        total: their number.
        confidence: of the interval, between 0 and 1.

    Raises:
        ValueError: right is larger than total, or a confidence of 0 or 1.
    """
    if right > total:
        raise ValueError(f"right must be at most total, {total}, got {right}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {shown(confidence)}")
    z, observed = NormalDist().inv_cdf((1 + confidence) / 2), right / total
    spread = z**2 / total
    middle = (observed + spread / 2) / (1 + spread)
    reach = math.sqrt(spread * (observed * (1 - observed) + spread / 4)) / (1 + spread)
    # exactly 0 and 1 where rounding would miss them
    return Interval(middle - reach if right else 0.0, middle + reach if right < total else 1.0)


def _score_all(sums: np.ndarray, score: Score | None, sentences: int) -> np.ndarray:
    if score is None:
        if sums.shape[1] != 1:
            raise ValueError("score must be given for statistics of shape (N, d), got None")
        return sums[:, 0] / sentences
    scores = [score(total) for total in sums]
    for value in scores:
        number.check("what score returns", value)
    return np.array(scores, dtype=np.float64)


def _summarise(scores_a, scores_b, confidence: float) -> PairedBootstrap:
    difference, *rest = scores_a - scores_b
    differences = np.array(rest)
    resamples = len(differences)
    wins_a, wins_b = int((differences > 0).sum()), int((differences < 0).sum())
    wins = wins_a if difference > 0 else wins_b
    sizes = np.abs(differences)
    strays = int((sizes - sizes.mean() > abs(difference)).sum())
    return PairedBootstrap(
        score_a=float(scores_a[0]),
        score_b=float(scores_b[0]),
        difference=float(difference),
        interval_a=_interval(scores_a[1:], confidence),
        interval_b=_interval(scores_b[1:], confidence),
        interval_difference=_interval(differences, confidence),
        wins_a=wins_a,
        wins_b=wins_b,
        ties=resamples - wins_a - wins_b,
        p_value=1.0 if difference == 0 else (resamples - wins + 1) / (resamples + 1),
        p_value_centred=1.0 if difference == 0 else (strays + 1) / (resamples + 1),
    )


def _resample_sums(statistics: np.ndarray, resamples: int, seed) -> np.ndarray:
    """Sample N of N sentences with replacement, R times, and sum their statistics: (R, d)."""
    if not isinstance(seed, np.random.Generator):
        if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
            raise ValueError(f"seed must be a whole number or a Generator, got {shown(seed)}")
        seed = np.random.default_rng(int(seed))
    generator = seed
    sentences = len(statistics)
    sums = np.empty((resamples, statistics.shape[1]))
    for row in range(resamples):
        drawn = generator.integers(sentences, size=sentences)
        sums[row] = np.bincount(drawn, minlength=sentences) @ statistics
    return sums


def _interval(scores: np.ndarray, confidence: float) -> Interval:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {shown(confidence)}")
    tail = (1 - confidence) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _read(statistics, name: str) -> np.ndarray:
    if isinstance(statistics, Tensor):
        statistics = statistics.detach().cpu()
    try:
        statistics = np.asarray(statistics, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers, one row a sentence") from error
    if statistics.ndim == 1:
        statistics = statistics[:, None]
    if statistics.ndim != 2 or statistics.size == 0:
        shape = statistics.shape
        raise ValueError(f"{name} must have shape (N,) or (N, d) with N at least 1, got {shape}")
    if not np.isfinite(statistics).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or inf")
    return statistics
