"""Paired bootstrap: equal to sacreBLEU's draws, right by hand, calm where nothing differs."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from scipy import stats

from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.chrf import Chrf
from gates2heads.metrics.significance import (
    bootstrap_interval,
    paired_bootstrap,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("name", "ours", "theirs"), [("BLEU", Bleu(), BLEU()), ("chrF2", Chrf(), CHRF())]
)
def test_equals_sacrebleus_paired_bootstrap(texts, name, ours, theirs):
    source = texts(37)
    references = [source.text(17) for _ in range(53)]
    worse = [source.near(source.near(text)) for text in references]
    better = [source.near(text) if i % 3 else worse[i] for i, text in enumerate(references)]
    systems = [("worse", worse), ("better", better)]
    test = PairedTest(systems, {name: theirs}, [references], test_type="bs", n_samples=300)
    result = test()[1][name][1]
    statistics = [ours.statistics(system, references) for system in (better, worse)]
    outcome = paired_bootstrap(
        *statistics, lambda total: ours.from_statistics(total).score, resamples=300, seed=12345
    )
    assert outcome.score_a == pytest.approx(result.score)
    assert outcome.p_value_centred == pytest.approx(result.p_value)
    half_width = (outcome.interval_a.high - outcome.interval_a.low) / 2
    assert half_width == pytest.approx(result.ci, rel=0.05)  # they take order statistics


def test_one_sentence_leaves_no_doubt_by_hand():
    # the only resample of one sentence is that sentence: A wins all 19, p = (0 + 1) / (19 + 1)
    outcome = paired_bootstrap([3.0], [2.0], resamples=19)
    assert (outcome.wins_a, outcome.wins_b, outcome.ties) == (19, 0, 0)
    assert outcome.p_value == 1 / 20
    assert outcome.difference == 1
    assert outcome.interval_difference == (1, 1)


def test_two_sentences_by_hand():
    # A is ahead by 3 on one sentence and behind by 1 on the other. Of the draws (1,1) (1,2) (2,1)
    # (2,2), each with probability 1/4, three are wins: the share of wins tends to 3/4.
    resamples = 4001
    outcome = paired_bootstrap([3.0, 0.0], [0.0, 1.0], resamples=resamples)
    error = math.sqrt(3 / 4 * 1 / 4 / resamples)
    assert abs(outcome.wins_a / resamples - 3 / 4) < 5 * error
    assert outcome.p_value == pytest.approx((outcome.wins_b + 1) / (resamples + 1))
    assert outcome.ties == 0


def test_a_loser_named_first_gets_the_same_p_value():
    a, b = [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]
    there, back = paired_bootstrap(a, b), paired_bootstrap(b, a)
    assert (there.wins_a, there.wins_b) == (back.wins_b, back.wins_a)
    assert there.p_value == back.p_value
    assert there.difference == -back.difference


def test_p_value_is_fair_where_two_systems_do_not_differ():
    # over many test sets of two equal systems, p < 0.1 one way or the other happens about 2 · 0.1
    chance = np.random.default_rng(41)
    seen = [
        paired_bootstrap(chance.normal(size=31), chance.normal(size=31), resamples=100).p_value
        for _ in range(200)
    ]
    assert 0.08 < np.mean(np.array(seen) < 0.1) < 0.35


def test_the_interval_of_a_mean_is_the_normal_one_for_many_sentences():
    values = np.random.default_rng(43).normal(5, 2, size=997)
    low, high = bootstrap_interval(values, resamples=2000)
    half = 1.96 * values.std() / math.sqrt(997)
    assert (low, high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.1 * half
    )


def test_the_centred_test_counts_one_tail():
    # The mean of 1,009 normal values, shifted to lie z standard errors from 0: the p-value of both
    # tests is the area of one tail, 2.3 % at z = 2, and not that of two, 4.6 %.
    values = np.random.default_rng(7).standard_normal(1009)
    values = (values - values.mean()) / values.std()
    for z in (-2, 2):
        other = np.zeros(1009)
        outcome = paired_bootstrap(values + z / math.sqrt(1009), other, resamples=5000)
        assert 0.016 < outcome.p_value < 0.03
        assert 0.016 < outcome.p_value_centred < 0.03


@settings(max_examples=30)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=13), st.integers(0, 97))
def test_a_system_against_itself_never_wins(values, seed):
    outcome = paired_bootstrap(values, values, resamples=23, seed=seed)
    assert (outcome.wins_a, outcome.wins_b, outcome.ties) == (0, 0, 23)
    assert outcome.p_value == outcome.p_value_centred == 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=13), st.data())
def test_counts_add_up_and_intervals_nest(values, data):
    others = data.draw(st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)))
    wide = paired_bootstrap(values, others, resamples=47, confidence=0.99)
    narrow = paired_bootstrap(values, others, resamples=47, confidence=0.5)
    assert wide.wins_a + wide.wins_b + wide.ties == 47
    assert 0 < wide.p_value <= 1
    assert wide.interval_a.low <= narrow.interval_a.low <= narrow.interval_a.high
    assert narrow.interval_a.high <= wide.interval_a.high


def test_the_seed_decides_and_a_generator_is_used_up():
    values, others = np.arange(11.0), np.arange(11.0)[::-1] ** 2
    assert paired_bootstrap(values, others, seed=3) == paired_bootstrap(values, others, seed=3)
    generator = np.random.default_rng(3)
    first = bootstrap_interval(others, seed=generator)
    assert first == bootstrap_interval(others, seed=3)
    assert first != bootstrap_interval(others, seed=generator)


TWO = np.ones((3, 2))


@pytest.mark.parametrize(
    ("arguments", "choices", "error", "message"),
    [
        (
            ([1, 2], [1]),
            {},
            ValueError,
            r"same sentences as statistics_a, shape \(2, 1\), got \(1, 1",
        ),
        (
            ([], []),
            {},
            ValueError,
            r"statistics_a must",
        ),
        (([[[1]]], [1]), {}, ValueError, r"statistics_a must"),
        (
            ([1], [math.nan]),
            {},
            ValueError,
            "statistics_b must",
        ),
        ((["a"], [1]), {}, ValueError, "statistics_a must"),
        (([[1, 2], [3]], [1]), {}, ValueError, "statistics_a must"),
        ((TWO, TWO), {}, ValueError, r"score must"),
        (
            ([1], [1]),
            {"confidence": 1.0},
            ValueError,
            "confidence must",
        ),
        (
            ([1], [1]),
            {"seed": -1},
            ValueError,
            "seed must",
        ),
        (
            ([1], [1]),
            {"seed": "a"},
            ValueError,
            "seed must",
        ),
    ],
)
def test_bad_input_is_named(arguments, choices, error, message):
    with pytest.raises(error, match=message):
        paired_bootstrap(*arguments, **choices)


def test_a_tensor_is_read_with_its_gradient():
    rows = torch.arange(7.0)
    given = {"resamples": 50, "seed": 3}
    wanted = bootstrap_interval(rows.numpy(), **given)
    assert bootstrap_interval(rows.clone().requires_grad_(), **given) == wanted


def test_a_seed_that_holds_itself_is_refused_and_does_not_end_the_process():
    seed = [1]
    seed.append(seed)
    for wrong in (seed, [1, 2], None, 1.5, -1, True):
        with pytest.raises(ValueError, match="seed must"):
            bootstrap_interval([1.0, 2.0], resamples=5, seed=wrong)
    drawn = [bootstrap_interval([1.0, 2.0, 4.0], seed=s) for s in (7, np.random.default_rng(7))]
    assert drawn[0] == drawn[1]


def test_wilsons_interval_by_hand():
    # z = 2 at a confidence of 95.45 %, n = 12, all right: 12 / (12 + 4) = 3/4 is the lower end
    confidence = math.erf(2 / math.sqrt(2))
    assert wilson_interval(12, 12, confidence=confidence) == pytest.approx((3 / 4, 1))
    assert wilson_interval(0, 12, confidence=confidence) == pytest.approx((0, 1 / 4))


@given(st.integers(0, 997), st.integers(1, 997), st.floats(0.5, 0.999))
def test_wilsons_interval_is_scipys(right, total, confidence):
    right = min(right, total)
    wanted = stats.binomtest(right, total).proportion_ci(confidence, method="wilson")
    found = wilson_interval(right, total, confidence=confidence)
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert 0 <= found.low <= right / total <= found.high <= 1
    assert (found.high < 1) or right == total


def test_wilsons_interval_refuses_more_right_than_there_are():
    with pytest.raises(ValueError, match="right must"):
        wilson_interval(11, 7)
    with pytest.raises(ValueError, match="confidence must"):
        wilson_interval(5, 7, confidence=1.0)
