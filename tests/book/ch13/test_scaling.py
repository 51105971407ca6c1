"""Chapter 13: the sizes of its models, a short training, predictions from runs that obey a law."""

import math

import pytest

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.python_text import python_text
from gates2heads.book.ch13 import scaling
from gates2heads.book.ch13.scaling import (
    FITTED,
    LARGER,
    PREDICTED,
    block_parameters,
    law_of,
    peak_rate,
    predict_loss,
    profile_of,
    scaled_model,
    train_scaled,
)
from gates2heads.metrics.scaling_laws import FLOPS, ScalingLaw

LAW = ScalingLaw(1.2, 60.0, 0.3, 300.0, 0.3)


def runs():
    made = []
    for width, layers, millions in FITTED.values():
        model = scaled_model(width, layers)
        size, tokens = parameters(model), millions * 1e6
        made.append({"parameters": size, "tokens": tokens, "loss": LAW.loss(size, tokens)})
    return made


def test_the_embedding_is_what_the_blocks_leave():
    model = scaled_model(64, 3)
    assert parameters(model) - block_parameters(model) == 2048 * 64


def test_predicted_runs_are_larger_than_fitted_ones():
    def compute(run):
        width, layers, millions = run
        return FLOPS * parameters(scaled_model(width, layers)) * millions * 1e6

    largest = max(map(compute, FITTED.values()))
    assert max(map(compute, PREDICTED.values())) > 1.9 * largest
    assert max(map(compute, LARGER.values())) > 40 * largest
    assert not FITTED.keys() & {**PREDICTED, **LARGER}.keys()


def test_four_larger_runs_have_the_same_budget():
    *_, a, b, c, d = [
        parameters(scaled_model(width, layers)) * millions
        for width, layers, millions in LARGER.values()
    ]
    assert max(a, b, c, d) < 1.01 * min(a, b, c, d)


def test_wider_models_have_lower_rates():
    assert peak_rate(96) == pytest.approx(0.002)
    assert peak_rate(384) == pytest.approx(0.001)


def test_runs_that_obey_a_law_predict_the_next():
    made = runs()
    assert law_of(made) == pytest.approx(LAW, rel=2e-3)
    told = predict_loss(made, 4e6, 4e6)
    assert told.low <= told.loss <= told.high
    assert tuple(told) == pytest.approx([LAW.loss(4e6, 4e6)] * 3, rel=1e-3)


def test_the_profile_of_a_parabola_has_its_minimum():
    sizes = [2.0**k for k in (17, 18, 20, 21)]
    losses = [3 + 0.06 * (math.log2(size) - 18.5) ** 2 for size in sizes]
    profile = profile_of(sizes, losses)
    assert profile.best == pytest.approx(2**18.5)
    assert profile.rise == pytest.approx(0.02)


def test_the_profile_of_a_law_is_near_its_best_size():
    best, tokens = LAW.optimum(1e13)
    factors = (0.4, 0.7, 1.2, 2.0)
    losses = [LAW.loss(best * one, tokens / one) for one in factors]
    assert profile_of([best * one for one in factors], losses).best == pytest.approx(best, rel=0.1)


def test_losses_without_a_minimum_have_no_profile():
    with pytest.raises(ValueError, match="no minimum"):
        profile_of([1e5, 1e6, 1e7], [3.0, 3.2, 3.1])


def test_a_short_training_learns(monkeypatch):
    monkeypatch.setattr(scaling, "python_text", lambda split: python_text("test"))
    model, history = train_scaled(32, 1, 12 * 1024, 0)
    assert len(history.loss) == 12
    assert history.loss[-1] < history.loss[0] - 0.3
    assert not model.training
