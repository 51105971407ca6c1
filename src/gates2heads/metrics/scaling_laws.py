"""Scaling laws: the loss of a language model as a function of parameters and training tokens."""

from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, positive

FLOPS = 6  # for each parameter and token: two in the forward pass, four in the backward pass
EXPONENTS = (0.02, 1.5)  # the range that is searched
GRID, ROUNDS = 41, 6  # candidates for each exponent, and how often the grid is refined
RUNS = floats("R")


class ScalingLaw(NamedTuple):
    """L(N, D) = E + A N^-α + B D^-β, the loss of a model with N parameters after D tokens.

    Source: Hoffmann et al. 2022, eq. 2.
    """

    irreducible: float  # E, which neither more parameters nor more tokens reduce
    parameter_factor: float  # A
    parameter_exponent: float  # α
    token_factor: float  # B
    token_exponent: float  # β

    def loss(self, parameters: float | Tensor, tokens: float | Tensor):
        """The predicted loss, of one run or of several."""
        of_parameters = self.parameter_factor * parameters**-self.parameter_exponent
        of_tokens = self.token_factor * tokens**-self.token_exponent
        return self.irreducible + of_parameters + of_tokens

    @accepts(compute=positive)
    def optimum(self, compute: float) -> tuple[float, float]:
        """The parameters and tokens with the lowest loss, where 6 N D = `compute`.

        Source: Hoffmann et al. 2022, eq. 4. At the optimum α A N^-α = β B D^-β: one percent more
        parameters gains as much as one percent more tokens.
        """
        alpha, beta = self.parameter_exponent, self.token_exponent
        ratio = alpha * self.parameter_factor / (beta * self.token_factor)
        parameters = (ratio * (compute / FLOPS) ** beta) ** (1 / (alpha + beta))
        return parameters, compute / FLOPS / parameters

    @property
    def parameter_growth(self) -> float:
        """The exponent a = β / (α + β): the best number of parameters grows as compute^a."""
        return self.token_exponent / (self.parameter_exponent + self.token_exponent)


@accepts(parameters=RUNS, tokens=RUNS, losses=RUNS)
def fit_scaling_law(parameters: Tensor, tokens: Tensor, losses: Tensor) -> ScalingLaw:
    """Fit E, A, α, B and β to R runs: the least squares of the relative errors of the loss.

    For given exponents the law is linear in E, A and B, so that only the exponents are searched: on
    a grid, which is refined around its best point. Source of the law: Hoffmann et al. 2022.
    Departs from it in the search, and in the squares in place of the Huber loss.

    Args:
        parameters: (R,) N of each run.
        tokens: (R,) D of each run.
        losses: (R,) measured, in any unit.

    Raises:
        ValueError: there are fewer than five runs, or all have equal parameters or equal tokens,
            or no law of this form with E, A and B of at least zero has been found.
    """
    runs = [one.double() for one in (parameters, tokens, losses)]
    _check_runs(*runs)
    n, d = (one / one.log().mean().exp() for one in runs[:2])  # around 1
    low, high = (torch.full((2,), one, dtype=torch.float64) for one in EXPONENTS)
    for _ in range(ROUNDS):
        grid = [
            torch.linspace(float(a), float(b), GRID).double()
            for a, b in zip(low, high, strict=True)
        ]
        pairs = torch.cartesian_prod(*grid)  # (P, 2)
        factors, errors = _least_squares(pairs, n, d, runs[2])
        best = pairs[errors.argmin()]
        step = (high - low) / (GRID - 1)
        low, high = (best - 2 * step).clamp(min=EXPONENTS[0]), best + 2 * step
    if not errors.min().isfinite():
        raise ValueError("losses must fall with parameters and tokens, no such law fits them")
    e, a, b = factors[errors.argmin()].tolist()
    alpha, beta = best.tolist()
    scale = [one.log().mean().exp().item() for one in runs[:2]]
    return ScalingLaw(e, a * scale[0] ** alpha, alpha, b * scale[1] ** beta, beta)


def _least_squares(pairs: Tensor, n: Tensor, d: Tensor, losses: Tensor) -> tuple[Tensor, Tensor]:
    """E, A and B (P, 3) for each pair of exponents (P, 2), and the sum of squared errors (P,).

    The error is infinite where one of the three would be negative.
    """
    terms = torch.empty(len(pairs), len(n), 3).double()  # (P, R, 3): relative to the measured loss
    terms[..., 0] = 1 / losses
    for place, base in ((0, n), (1, d)):  # few exponents, in many pairs
        exponents, of_pair = pairs[:, place].unique(return_inverse=True)
        terms[..., place + 1] = (base ** -exponents[:, None] / losses)[of_pair]
    moments = terms.transpose(1, 2) @ terms + 1e-12 * torch.eye(3)  # (P, 3, 3)
    factors = torch.linalg.solve(moments, terms.sum(dim=1))  # (P, 3)
    errors = ((terms @ factors[:, :, None])[:, :, 0] - 1).square().sum(dim=1)
    return factors, errors.masked_fill((factors < 0).any(dim=1), torch.inf)


def _check_runs(parameters: Tensor, tokens: Tensor, losses: Tensor) -> None:
    if len(losses) < 5:
        raise ValueError(f"losses must be those of at least 5 runs, got {len(losses)}")
    for name, sizes in (("parameters", parameters), ("tokens", tokens)):
        if (sizes == sizes[0]).all():
            raise ValueError(f"{name} must differ between runs, got only {sizes[0]:g}")
    if not (torch.cat([parameters, tokens, losses]) > 0).all():
        raise ValueError("parameters, tokens and losses must be positive")
