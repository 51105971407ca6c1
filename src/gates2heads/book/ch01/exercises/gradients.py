"""Chapter 1, Recurrent gates: checks of the exercises on memory and gradients."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, between, near, slips

# Exercise 1.1: 0.99 ** 68 is still above one half, 0.99 ** 69 below
HALF_LIFE = 69
check_half_life = NumbersCheck(
    title="Exercise 1.1",
    questions=(
        Numbers(
            name="steps",
            right=(near(HALF_LIFE),),
            slips=(
                *slips(
                    {
                        68: "0.99 to the power of 68 is 0.505, still slightly more than one half.",
                        50: "That subtracts 0.01 of the initial value at every step. Each step "
                        "removes a hundredth of the current value.",
                        51: "That subtracts 0.01 of the initial value at every step. Each step "
                        "removes a hundredth of the current value.",
                        7: "That is the half-life at w = 0.9. Here w = 0.99.",
                        693: "That is the half-life at w = 0.999. Here w = 0.99.",
                    }
                ),
                near(
                    math.log(0.5) / math.log(0.99),
                    "This is the right quotient of logarithms. The number of steps is an integer: "
                    "round up.",
                    within=0.1,
                ),
                between(
                    -math.inf,
                    HALF_LIFE,
                    "That is too few: more than half is left. Which power of 0.99 is one half? "
                    "Take logarithms.",
                ),
            ),
            otherwise="That is too many. Which power of 0.99 is one half? Take logarithms.",
        ),
    ),
    remark="ln ½ / ln 0.99 = 68.97, rounded up.",
)

# Exercise 1.4: σ(b) = F with F ** 100 = 1/2
HALF_AFTER = 100
FORGET = 0.5 ** (1 / HALF_AFTER)
FORGET_BIAS = math.log(FORGET / (1 - FORGET))
check_forget_bias = NumbersCheck(
    title="Exercise 1.4",
    questions=(
        Numbers(
            name="bias",
            right=(near(FORGET_BIAS, within=0.02),),
            slips=(
                *slips(
                    {
                        FORGET: "That is the gate f itself. Invert the sigmoid: "
                        "b = ln(f / (1 − f)).",
                        -FORGET_BIAS: "The sign is wrong: with a negative pre-activation the gate "
                        "is below ½, and the cell state decays quickly.",
                        0.0: "With a pre-activation of 0 the gate is ½, and one half is lost after "
                        "a single step.",
                        math.log(2) / HALF_AFTER: "That is −ln f. Compute f first, then invert the "
                        "sigmoid.",
                        math.log10(FORGET / (1 - FORGET)): "Use the natural logarithm, because σ "
                        "is defined with e.",
                        math.log(HALF_AFTER): "That is close, but it leaves 1/e and not one half: "
                        "f to the power of 100 must be ½.",
                    },
                    within=0.003,
                ),
                near(
                    FORGET_BIAS,
                    "That is close. Keep more digits of f, because 1 − f is small.",
                    within=0.1,
                ),
                between(
                    -math.inf,
                    FORGET_BIAS,
                    "With that pre-activation, less than half of the cell state is left after 100 "
                    "steps: find the f whose power 100 is ½, then invert the sigmoid.",
                ),
            ),
            otherwise="With that pre-activation, more than half of the cell state is left after "
            "100 steps: find the f whose power 100 is ½, then invert the sigmoid.",
        ),
    ),
    remark=f"The gate is {FORGET:.4f}, and the cell state halves in {HALF_AFTER} steps.",
)


def jacobian(weight: Tensor, hidden: Tensor) -> Tensor:
    """The solution of exercise 1.2: W (U, U), h after the step (U,) -> its Jacobian (U, U)."""
    return (1 - hidden**2)[:, None] * weight


def _jacobian_cases() -> list[Case]:
    weight, hidden = random_tensors((5, 5), (5,))
    by_hand = torch.tensor([[0.75, 0.0], [1.5, 3.0]]), torch.tensor([0.5, 0.0])
    wanted = torch.tensor([[0.5625, 0.0], [1.5, 3.0]])
    return [
        Case("two units, h = (½, 0)", by_hand, wanted),
        Case("five units", (weight, hidden.tanh())),
    ]


check_jacobian = FunctionCheck(
    title="Exercise 1.2",
    solution=jacobian,
    cases=_jacobian_cases,
    mistakes={
        "the slope of tanh is missing: W alone is the Jacobian of a step without tanh": (
            lambda weight, hidden: weight.clone()
        ),
        "the slopes scale the columns of W: row i belongs to unit i, whose tanh follows W": (
            lambda weight, hidden: weight * (1 - hidden**2)
        ),
        "the matrix is transposed: row i contains the derivatives of unit i": (
            lambda weight, hidden: jacobian(weight, hidden).T
        ),
        "the slope is taken as 1 − h: the derivative of tanh is 1 − tanh²": (
            lambda weight, hidden: (1 - hidden)[:, None] * weight
        ),
        "tanh is applied to h a second time: h is already the output of tanh": (
            lambda weight, hidden: (1 - hidden.tanh() ** 2)[:, None] * weight
        ),
        "the slope is that of a sigmoid, h (1 − h)": (
            lambda weight, hidden: (hidden * (1 - hidden))[:, None] * weight
        ),
        "the result is the diagonal matrix of the slopes, without the factor W": (
            lambda weight, hidden: torch.diag(1 - hidden**2)
        ),
    },
    remark="`step_jacobians` computes the same by autograd, for gated layers too.",
)
