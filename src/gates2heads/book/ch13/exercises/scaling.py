"""Chapter 13, Scaling and in-context learning: checks of the exercises on scaling laws."""

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 13.1: a million parameters and four million tokens
OPERATIONS, TOKENS = 6 * 10**6 * 4 * 10**6, 10**6


check_compute = NumbersCheck(
    title="Exercise 13.1",
    questions=(
        Numbers(
            name="operations",
            right=(near(OPERATIONS, share=True),),
            slips=slips(
                {
                    OPERATIONS // 6: "You left out the factor 6: each parameter takes about six "
                    "operations for each token.",
                    OPERATIONS // 3: "That is the forward pass alone; the backward pass takes "
                    "twice as many.",
                    OPERATIONS // 3 * 2: "That is the backward pass alone; the forward pass comes "
                    "before it.",
                    OPERATIONS // 4: "You multiplied by one million tokens; there are four.",
                    6 * 5 * 10**6: "You added parameters and tokens: every token passes through "
                    "every parameter, so multiply.",
                },
                share=True,
            ),
            otherwise="operations is not right: multiply 6, the parameters and the tokens.",
            ask="operations should be a number",
        ),
        Numbers(
            name="tokens",
            right=(near(TOKENS, share=True),),
            slips=slips(
                {
                    16 * 10**6: "With the same budget a larger model reads fewer tokens, not more.",
                    4 * 10**6: "Then the budget would be four times as large; it should stay the "
                    "same.",
                    2 * 10**6: "Divide by four, not by two: the operations are proportional to "
                    "both factors.",
                },
                share=True,
            ),
            otherwise="tokens is not right: divide the operations by 6 and the parameters.",
            ask="tokens should be a number",
        ),
    ),
    remark="The budget does not say which model has the lower loss; a fitted law estimates it.",
)


def fit_power_law(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The solution of exercise 13.2.

    Args:
        x, y: (R,) positive.

    Returns:
        factor and exponent of y ≈ factor · x^(−exponent), by least squares of the logarithms.
    """
    apart = x.log() - x.log().mean()
    slope = (apart * y.log()).sum() / (apart * apart).sum()
    return (y.log().mean() - slope * x.log().mean()).exp(), -slope


def _line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Intercept and slope of the line through points (R,)."""
    apart = x - x.mean()
    slope = (apart * y).sum() / (apart * apart).sum()
    return y.mean() - slope * x.mean(), slope


def _fitted_with(*, x_log=torch.log, y_log=torch.log, undo=torch.exp, sign=-1, swapped=False):
    """A fit with one mistake."""

    def fitted(x, y):
        intercept, slope = _line(x_log(x), y_log(y))
        found = undo(intercept), sign * slope
        return found[::-1] if swapped else found

    return fitted


def _as_it_is(values):
    return values


def _first_and_last(x, y):
    slope = (y[-1] / y[0]).log() / (x[-1] / x[0]).log()
    return (y[0].log() - slope * x[0].log()).exp(), -slope


def _through_the_origin(x, y):
    return torch.ones_like(x[0]), -(x.log() * y.log()).sum() / (x.log() ** 2).sum()


def _x_from_y(x, y):
    intercept, slope = _line(y.log(), x.log())
    return (-intercept / slope).exp(), -1 / slope


def _power_laws() -> list[Case]:
    x = torch.tensor([1.0, 4.0, 16.0, 64.0], dtype=torch.double)
    (noise,) = random_tensors((7,))
    sizes = torch.tensor([2.0, 3.0, 5.0, 9.0, 20.0, 30.0, 80.0], dtype=torch.double)
    return [
        Case("y = 3 / √x at x = 1, 4, 16 and 64", (x, 3 / x.sqrt())),
        Case("seven noisy points", (sizes, 5 * sizes**-0.3 * (0.1 * noise.double()).exp())),
        Case("a law that rises", (sizes, 0.5 * sizes**0.2 * (0.05 * noise.double()).exp())),
    ]


check_power_law = FunctionCheck(
    title="Exercise 13.2",
    solution=fit_power_law,
    cases=_power_laws,
    parts=("factor", "exponent"),
    mistakes={
        "a line was fitted to x and y themselves: take the logarithms of both": _fitted_with(
            x_log=_as_it_is, y_log=_as_it_is, undo=_as_it_is
        ),
        "the exponent has the wrong sign: the law is x to the power of −exponent": _fitted_with(
            sign=1
        ),
        "the factor is still a logarithm: apply exp to the intercept": _fitted_with(undo=_as_it_is),
        "only the logarithm of y was taken: that fits an exponential function": _fitted_with(
            x_log=_as_it_is
        ),
        "only the logarithm of x was taken": _fitted_with(y_log=_as_it_is, undo=_as_it_is),
        "x has a decimal logarithm and y a natural one: use the same base": _fitted_with(
            x_log=torch.log10
        ),
        "y has a decimal logarithm and x a natural one: use the same base": _fitted_with(
            y_log=torch.log10
        ),
        "the logarithms are decimal, so the factor is 10 to the power of the intercept": (
            _fitted_with(x_log=torch.log10, y_log=torch.log10)
        ),
        "factor and exponent are exchanged": _fitted_with(swapped=True),
        "only the first and the last point were used": _first_and_last,
        "the line goes through the origin: it needs an intercept": _through_the_origin,
        "the logarithm of x was predicted from that of y": _x_from_y,
    },
    remark="On logarithmic axes, a power law is a straight line with the slope −exponent.",
)
