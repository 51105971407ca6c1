"""Chapter 1, Recurrent gates: the checks of its exercises."""

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


def lstm(sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The solution of exercise 1.3: four sums (4, U) and the old cell (U,) -> h (U,), c (U,)."""
    taken, forget, output = sums[[0, 1, 3]].sigmoid()
    cell = forget * cell + taken * sums[2].tanh()
    return output * cell.tanh(), cell


def _lstm_cases() -> list[Case]:
    sums, cell = random_tensors((4, 5), (5,))
    third = math.log(3)  # σ(ln 3) = ¾, tanh(½ ln 3) = ½
    by_hand = torch.tensor([[0.0], [third], [third / 2], [-third]])
    return [
        Case("the step done by hand, with an old cell state of 4", (by_hand, torch.tensor([4.0]))),
        Case("five units", (sums, cell)),
    ]


def _lstm_with(*, order=(0, 1, 2, 3), candidate=torch.tanh, shown_cell="new", squash=torch.tanh):
    """A step of an LSTM with one mistake."""

    def step(sums, cell):
        taken, forget, new, output = sums[list(order)]
        after = forget.sigmoid() * cell + taken.sigmoid() * candidate(new)
        return output.sigmoid() * squash(after if shown_cell == "new" else cell), after

    return step


def _lstm_of_a_gru(sums, cell):
    forget = sums[1].sigmoid()
    after = forget * cell + (1 - forget) * sums[2].tanh()
    return sums[3].sigmoid() * after.tanh(), after


check_lstm = FunctionCheck(
    title="Exercise 1.3",
    solution=lstm,
    cases=_lstm_cases,
    parts=("the new hidden state", "the new cell state"),
    mistakes={
        "input gate and forget gate are exchanged": _lstm_with(order=(1, 0, 2, 3)),
        "candidate and output gate are exchanged: rows 2 and 3": (_lstm_with(order=(0, 1, 3, 2))),
        "the candidate uses a sigmoid: it may be negative, so use tanh": (
            _lstm_with(candidate=torch.sigmoid)
        ),
        "the candidate lacks its tanh": _lstm_with(candidate=lambda x: x),
        "the hidden state uses the old cell state instead of the new one": _lstm_with(
            shown_cell="old"
        ),
        "the hidden state lacks the tanh of the cell state": _lstm_with(squash=lambda x: x),
        "the candidate is multiplied by 1 − f, as in a GRU, and not by i": _lstm_of_a_gru,
        "the two results are exchanged: the hidden state comes first": (
            lambda sums, cell: lstm(sums, cell)[::-1]
        ),
        "the gates lack their sigmoid": lambda sums, cell: (
            sums[3] * (sums[1] * cell + sums[0] * sums[2].tanh()).tanh(),
            sums[1] * cell + sums[0] * sums[2].tanh(),
        ),
    },
    remark="`torch.nn.LSTMCell` does the same and also computes the four pre-activations.",
)


def weights_of(blocks: int, width: int, units: int, layers: int, directions: int) -> int:
    """The solution of exercise 1.6: the number of parameters of a recurrent network."""
    total = 0
    for _ in range(layers):
        total += directions * blocks * units * (width + units + 2)
        width = directions * units
    return total


def _weights_with(*, biases=2, reads="both", first="width", squares=1):
    """The count with one mistake."""

    def wrong(blocks, width, units, layers, directions):
        total, width = 0, width if first == "width" else units
        for _ in range(layers):
            total += directions * blocks * units * (width + squares * units + biases)
            width = units * (directions if reads == "both" else 1)
        return total

    return wrong


def _weights_of_one_block(blocks, width, units, layers, directions):
    return weights_of(1, width, units, layers, directions)


def _weights_of_equal_layers(blocks, width, units, layers, directions):
    return layers * weights_of(blocks, width, units, 1, directions)


check_weights_of = FunctionCheck(
    title="Exercise 1.6",
    solution=weights_of,
    cases=lambda: [
        Case("a plain RNN with D = 2 and U = 3", (1, 2, 3, 1, 1), 21),
        Case("a GRU with D = 2 and U = 3", (3, 2, 3, 1, 1), 63),
        Case("an LSTM of two layers with D = 3 and U = 5", (4, 3, 5, 2, 1), 440),
        Case("a GRU of two layers in two directions", (3, 2, 7, 2, 2)),
    ],
    mistakes={
        "each block has one bias, as in (1.1): PyTorch stores two, bias_ih and bias_hh": (
            _weights_with(biases=1)
        ),
        "the biases are missing": _weights_with(biases=0),
        "the matrix for the state is missing": _weights_with(squares=0),
        "the upper layers have inputs of width U: with two directions the width is 2U": (
            _weights_with(reads="one")
        ),
        "the first layer has inputs of width U: the width is D": _weights_with(first="units"),
        "the blocks are not counted": _weights_of_one_block,
        "every layer has as many parameters as the first": _weights_of_equal_layers,
    },
    remark="So an LSTM has four times as many parameters as a plain RNN of its width, "
    "and a GRU three times.",
)


def turned(weight: Tensor) -> Tensor:
    """The solution of exercise 1.7: weight of shape (3U, D) -> the same for 1 − z."""
    reset, update, candidate = weight.chunk(3)
    return torch.cat([reset, -update, candidate])


def _blocks(order=(0, 1, 2), signs=(1, 1, 1)):
    def wrong(weight):
        parts = weight.chunk(3)
        return torch.cat([sign * parts[place] for place, sign in zip(order, signs, strict=True)])

    return wrong


def _one_minus(weight):
    reset, update, candidate = weight.chunk(3)
    return torch.cat([reset, 1 - update, candidate])


check_turned = FunctionCheck(
    title="Exercise 1.7",
    solution=turned,
    cases=lambda: [
        Case(
            "one unit and one input",
            (torch.tensor([[1.0], [2.0], [3.0]]),),
            torch.tensor([[1.0], [-2.0], [3.0]]),
        ),
        Case("five units and seven inputs", (random_tensors((15, 7))[0],)),
        Case("a bias of five units", (random_tensors((15,))[0],)),
    ],
    mistakes={
        "the parameters became 1 − w: it is the gate that becomes 1 − z, and σ(−x) = 1 − σ(x)": (
            _one_minus
        ),
        "all three blocks changed sign: the reset gate and the candidate must stay": (
            _blocks(signs=(-1, -1, -1))
        ),
        "the reset gate, the first block, changed sign instead": _blocks(signs=(-1, 1, 1)),
        "the candidate changed sign too": _blocks(signs=(1, -1, -1)),
        "reset gate and update gate are exchanged": _blocks(order=(1, 0, 2)),
        "update gate and candidate are exchanged": _blocks(order=(0, 2, 1)),
        "the array is unchanged": _blocks(),
    },
    remark="So stored parameters can be converted to the other convention without training.",
)
