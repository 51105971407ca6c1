"""Chapter 1, Recurrent gates: checks of the exercises on the LSTM and the GRU."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors


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


def parameter_count(blocks: int, width: int, units: int, layers: int, directions: int) -> int:
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
    return parameter_count(1, width, units, layers, directions)


def _weights_of_equal_layers(blocks, width, units, layers, directions):
    return layers * parameter_count(blocks, width, units, 1, directions)


check_parameter_count = FunctionCheck(
    title="Exercise 1.6",
    solution=parameter_count,
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


def convert_update_gate(weight: Tensor) -> Tensor:
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


check_convert_update_gate = FunctionCheck(
    title="Exercise 1.7",
    solution=convert_update_gate,
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
