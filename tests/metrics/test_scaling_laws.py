"""Scaling laws: recovered from exact losses, against SciPy, the optimum by search, wrong runs."""

import math

import numpy as np
import pytest
import torch
from scipy import optimize

from gates2heads.metrics.scaling_laws import FLOPS, ScalingLaw, fit_scaling_law

SIZES = torch.tensor([9e4, 2.8e5, 5e5, 1e6, 2e6], dtype=torch.float64)
TOKENS = torch.tensor([2.5e5, 5e5, 1e6, 2e6, 4e6], dtype=torch.float64)
HOFFMANN = ScalingLaw(1.69, 406.4, 0.34, 410.7, 0.28)
LAWS = [HOFFMANN, ScalingLaw(0.5, 30.0, 0.2, 900.0, 0.45), ScalingLaw(2.0, 5000.0, 0.7, 60.0, 0.3)]


def runs(law, noise=0.0, seed=0):
    parameters, tokens = torch.cartesian_prod(SIZES, TOKENS).T
    draw = torch.Generator().manual_seed(seed)
    random = torch.randn(len(tokens), generator=draw, dtype=torch.float64)
    return parameters, tokens, law.loss(parameters, tokens) * (1 + noise * random)


def test_a_loss_by_hand():
    law = ScalingLaw(1.0, 8.0, 0.5, 27.0, 1 / 3)
    assert law.loss(16, 27) == pytest.approx(1 + 8 / 4 + 27 / 3)
    assert law.parameter_growth == pytest.approx(0.4)


@pytest.mark.parametrize("law", LAWS)
def test_exact_losses_give_the_law_back(law):
    assert fit_scaling_law(*runs(law)) == pytest.approx(law, rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_no_law_of_scipy_has_smaller_errors(law, seed):
    parameters, tokens, losses = (one.numpy() for one in runs(law, 0.003, seed))

    def errors(x):
        e, a, b = np.exp(x[:3])
        told = e + a * (parameters / 1e6) ** -x[3] + b * (tokens / 1e6) ** -x[4]
        return told / losses - 1

    found = fit_scaling_law(*map(torch.tensor, (parameters, tokens, losses)))
    ours = np.square(found.loss(parameters, tokens) / losses - 1).sum()
    start = [
        math.log(law.irreducible),
        math.log(law.parameter_factor) - law.parameter_exponent * math.log(1e6),
        math.log(law.token_factor) - law.token_exponent * math.log(1e6),
        law.parameter_exponent,
        law.token_exponent,
    ]
    theirs = 2 * optimize.least_squares(errors, start, xtol=1e-12, ftol=1e-12).cost
    assert ours <= theirs * 1.001


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("compute", [1e13, 1e18, 5.76e23])
def test_the_optimum_is_the_lowest_of_a_search(law, compute):
    parameters, tokens = law.optimum(compute)
    assert FLOPS * parameters * tokens == pytest.approx(compute)
    sizes = np.geomspace(parameters / 10, parameters * 10, 2001)
    assert sizes[law.loss(sizes, compute / FLOPS / sizes).argmin()] == pytest.approx(parameters)


def test_the_optimum_grows_with_its_exponent():
    small, large = (HOFFMANN.optimum(compute)[0] for compute in (1e15, 1e17))
    assert math.log(large / small) == pytest.approx(HOFFMANN.parameter_growth * math.log(100))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda n, d, loss: (n[:4], d[:4], loss[:4]), "losses"),
        (lambda n, d, loss: (n * 0 + 5, d, loss), "parameters"),
        (lambda n, d, loss: (n, d * 0 + 5, loss), "tokens"),
        (lambda n, d, loss: (n, d, -loss), "losses"),
        (lambda n, d, loss: (n, d, loss.flip(0)), "losses"),
    ],
)
def test_runs_without_a_law_are_refused(change, named):
    with pytest.raises(ValueError, match=named):
        fit_scaling_law(*change(*runs(HOFFMANN)))
