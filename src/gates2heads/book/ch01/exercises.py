"""Chapter 1, Recurrent gates: the checks of its exercises."""

import math

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.verdict import NotYetError, check

# Exercise 1.1: 0.99 ** 68 is still above one half, 0.99 ** 69 below
HALF_LIFE = 69
_HALF_SLIPS = {
    68: "0.99 to the power of 68 is 0.505, still a little more than half.",
    50: "That takes 0.01 of the **first** value off at each step. Each step takes a hundredth of "
    "what is left.",
    51: "That takes 0.01 of the **first** value off at each step. Each step takes a hundredth of "
    "what is left.",
    7: "That is the half-life at w = 0.9. Here w = 0.99.",
    693: "That is the half-life at w = 0.999. Here w = 0.99.",
}

# Exercise 1.4: σ(b) = F with F ** 100 = 1/2
HALF_AFTER = 100
FORGET = 0.5 ** (1 / HALF_AFTER)
FORGET_BIAS = math.log(FORGET / (1 - FORGET))
_BIAS_SLIPS = {
    FORGET: "That is the gate F itself. The sigmoid must still be undone: b = ln(F / (1 − F)).",
    -FORGET_BIAS: "The sign: with a negative bias the gate is nearly shut, and all is forgotten.",
    0.0: "With a bias of 0 the gate is ½, and half is gone after **one** step.",
    math.log(2) / HALF_AFTER: "That is −ln F. Find F first, then undo the sigmoid.",
    math.log10(FORGET / (1 - FORGET)): "The logarithm must be the natural one: σ is made with e.",
    math.log(HALF_AFTER): "Near: that keeps 1/e and not one half. F to the power of 100 must be ½.",
}


@check("Exercise 1.1")
def check_half_life(steps) -> str:
    """Check how many steps it takes until less than half of a unit's value is left."""
    number = _number(steps)
    if number == HALF_LIFE:
        return "By ln ½ / ln 0.99 = 68.97, rounded up."
    if number in _HALF_SLIPS:
        raise NotYetError(_HALF_SLIPS[number])
    if abs(number - math.log(0.5) / math.log(0.99)) < 0.1:
        raise NotYetError("The right quotient of logarithms. Steps are whole: round it up.")
    more = "too early: more than half is left" if number < HALF_LIFE else "too late"
    raise NotYetError(f"That is {more}. Which power of 0.99 is one half? Take logarithms.")


@check("Exercise 1.4")
def check_forget_bias(bias) -> str:
    """Check the bias of a forget gate under which half of a cell is left after 100 steps."""
    number = _number(bias)
    if abs(number - FORGET_BIAS) < 0.02:
        return f"The gate stands at {FORGET:.4f}, the cell halves in {HALF_AFTER} steps."
    for slip, words in _BIAS_SLIPS.items():
        if abs(number - slip) < 0.003:
            raise NotYetError(words)
    if abs(number - FORGET_BIAS) < 0.1:
        raise NotYetError("That is near. Keep more digits of F: 1 − F is small.")
    left = _sigmoid(number) ** HALF_AFTER
    raise NotYetError(f"With that bias {left:.3g} of the cell is left after {HALF_AFTER} steps.")


def _sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, number))))


def _number(answer) -> float:
    if isinstance(answer, bool | str) or answer is None:
        raise NotYetError(f"The answer should be a number, got {shown(answer)}.")
    try:
        number = float(answer)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise NotYetError(f"The answer should be a number, got {shown(answer)}.") from None
    if not math.isfinite(number):
        raise NotYetError(f"The answer should be a finite number, got {shown(answer)}.")
    return number


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
        "the slopes scale the columns of W: row i belongs to unit i, which is squashed after W": (
            lambda weight, hidden: weight * (1 - hidden**2)
        ),
        "the matrix is transposed: row i is what unit i takes from each": (
            lambda weight, hidden: jacobian(weight, hidden).T
        ),
        "the slope is taken as 1 − h: the derivative of tanh is 1 − tanh²": (
            lambda weight, hidden: (1 - hidden)[:, None] * weight
        ),
        "tanh is applied to h once more: h has been through it already": (
            lambda weight, hidden: (1 - hidden.tanh() ** 2)[:, None] * weight
        ),
        "the slope is that of a sigmoid, h (1 − h)": (
            lambda weight, hidden: (hidden * (1 - hidden))[:, None] * weight
        ),
        "the slopes stand alone on a diagonal, without W": (
            lambda weight, hidden: torch.diag(1 - hidden**2)
        ),
    },
    remark="`step_jacobians` finds the same by autograd, for gated cells too.",
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
        Case("the step done by hand, with an old cell of 4", (by_hand, torch.tensor([4.0]))),
        Case("five units", (sums, cell)),
    ]


def _lstm_with(*, order=(0, 1, 2, 3), candidate=torch.tanh, shown_cell="new", squash=torch.tanh):
    """A step of an LSTM with one thing done otherwise."""

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
    parts=("the new hidden state", "the new cell"),
    mistakes={
        "input gate and forget gate have changed places": _lstm_with(order=(1, 0, 2, 3)),
        "candidate and output gate have changed places: rows 2 and 3": (
            _lstm_with(order=(0, 1, 3, 2))
        ),
        "the candidate goes through a sigmoid: it may be negative, so tanh": (
            _lstm_with(candidate=torch.sigmoid)
        ),
        "the candidate is not squashed": _lstm_with(candidate=lambda x: x),
        "what is shown is the old cell and not the new one": _lstm_with(shown_cell="old"),
        "the cell is shown without its tanh": _lstm_with(squash=lambda x: x),
        "the candidate is let in by 1 − f, as in a GRU, and not by the input gate": _lstm_of_a_gru,
        "the two results have changed places: hidden state first": (
            lambda sums, cell: lstm(sums, cell)[::-1]
        ),
        "the gates are not squashed": lambda sums, cell: (
            sums[3] * (sums[1] * cell + sums[0] * sums[2].tanh()).tanh(),
            sums[1] * cell + sums[0] * sums[2].tanh(),
        ),
    },
    remark="`torch.nn.LSTMCell` does the same, and makes the four sums too.",
)


def turned(weight: Tensor) -> Tensor:
    """The solution of exercise 1.5: weight of shape (3U, D) -> the same for 1 − z."""
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
    title="Exercise 1.5",
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
        "the weights became 1 − w: it is the gate that becomes 1 − z, and σ(−x) = 1 − σ(x)": (
            _one_minus
        ),
        "all three blocks changed their sign: reset gate and candidate stay": (
            _blocks(signs=(-1, -1, -1))
        ),
        "the first block changed its sign, which is the reset gate": _blocks(signs=(-1, 1, 1)),
        "the candidate changed its sign too": _blocks(signs=(1, -1, -1)),
        "reset and update have changed places": _blocks(order=(1, 0, 2)),
        "update and candidate have changed places": _blocks(order=(0, 2, 1)),
        "nothing was turned": _blocks(),
    },
    remark="So a file of weights can change its convention without a new training.",
)


def weights_of(blocks: int, width: int, units: int, layers: int, directions: int) -> int:
    """The solution of exercise 1.7: how many weights a recurrent layer in some layers has."""
    total = 0
    for _ in range(layers):
        total += directions * blocks * units * (width + units + 2)
        width = directions * units
    return total


def _weights_with(*, biases=2, reads="both", first="width", squares=1):
    """The count with one thing done otherwise."""

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
    title="Exercise 1.7",
    solution=weights_of,
    cases=lambda: [
        Case("a plain RNN with D = 2 and U = 3", (1, 2, 3, 1, 1), 21),
        Case("a GRU with D = 2 and U = 3", (3, 2, 3, 1, 1), 63),
        Case("an LSTM of two layers with D = 3 and U = 5", (4, 3, 5, 2, 1), 440),
        Case("a GRU of two layers in two directions", (3, 2, 7, 2, 2)),
    ],
    mistakes={
        "each block has one bias and not two, as in the papers: PyTorch has two": (
            _weights_with(biases=1)
        ),
        "the biases are missing": _weights_with(biases=0),
        "the matrix for the state is missing": _weights_with(squares=0),
        "a layer above reads U numbers also where two directions are joined: it reads 2U": (
            _weights_with(reads="one")
        ),
        "the first layer reads U numbers: it reads D": _weights_with(first="units"),
        "the blocks are not counted": _weights_of_one_block,
        "every layer has the weights of the first": _weights_of_equal_layers,
    },
    remark="So an LSTM has four times the weights of an RNN of its width, and a GRU three times.",
)
