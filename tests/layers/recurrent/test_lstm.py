"""The long short-term memory cell; the layer is compared with its twin in test_unroll.py."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.record import record
from gates2heads.layers.recurrent.lstm import LSTM, LSTMCell, lstm_step

B, D, U = 5, 3, 7


def test_cell_equals_torch(parity):
    cell, twin = LSTMCell(D, U).double(), nn.LSTMCell(D, U).double()
    cell.load_state_dict(twin.state_dict())
    inputs, hidden, memory = (
        torch.randn(B, size, dtype=torch.double, requires_grad=True) for size in (D, U, U)
    )
    results = []
    for module, outputs in (
        (cell, cell(inputs, hidden, memory)),
        (twin, twin(inputs, (hidden, memory))),
    ):
        total = outputs[0].square().sum() + outputs[1].exp().sum()
        wanted = [inputs, hidden, memory, *module.parameters()]
        results.append((outputs, torch.autograd.grad(total, wanted)))
    parity("LSTMCell", "nn.LSTMCell", *zip(*results, strict=True))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_by_hand():
    # One unit, h = 3 whose weights are (0, 1, 0, 2), projected (1, -2, 3, -4). The sums are
    # I: 1, F: -2 + 3 = 1, candidate: 3, O: -4 + 6 = 2; the cell before is 10.
    hidden, cell, gates = lstm_step(
        torch.tensor([[1.0, -2.0, 3.0, -4.0]]),
        torch.tensor([[3.0]]),
        torch.tensor([[10.0]]),
        torch.tensor([[0.0], [1.0], [0.0], [2.0]]),
    )
    kept = sigmoid(1) * 10 + sigmoid(1) * math.tanh(3)
    assert cell.item() == pytest.approx(kept, rel=1e-6)
    assert hidden.item() == pytest.approx(sigmoid(2) * math.tanh(kept), rel=1e-6)
    values = {name: gate.item() for name, gate in gates.items()}
    expected = {
        "input": sigmoid(1),
        "forget": sigmoid(1),
        "candidate": math.tanh(3),
        "output": sigmoid(2),
    }
    assert values == pytest.approx(expected, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(cell=st.lists(st.floats(-50, 50, width=32), min_size=U, max_size=U))
def test_an_open_forget_gate_carries_the_cell_unchanged(cell):
    """F ≈ 1 and I ≈ 0: the cell is the same after the step, and so is its gradient."""
    before = torch.tensor([cell], requires_grad=True)
    projected = torch.randn(1, 4 * U)
    projected[:, :U], projected[:, U : 2 * U] = -200.0, 200.0
    _, after, _ = lstm_step(projected, torch.zeros(1, U), before, torch.zeros(4 * U, U))
    assert torch.equal(after, before)
    (gradient,) = torch.autograd.grad(after.sum(), before)
    assert (gradient == 1).all()


def test_the_layer_is_the_cell_step_by_step():
    layer, cell = LSTM(D, U), LSTMCell(D, U)
    cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
    inputs, hidden, memory = torch.randn(B, 11, D), torch.zeros(B, U), torch.zeros(B, U)
    states, (last_hidden, last_memory) = layer(inputs)
    for step in range(11):
        hidden, memory = cell(inputs[:, step], hidden, memory)
        torch.testing.assert_close(states[:, step], hidden)
    torch.testing.assert_close(last_hidden[0], hidden)
    torch.testing.assert_close(last_memory[0], memory)


def test_cell_notes_its_gates():
    cell = LSTMCell(D, U)
    with record(cell) as trace:
        hidden, memory = cell(torch.randn(B, D), torch.randn(B, U), torch.randn(B, U))
    assert set(trace[""]) == {"cell", "hidden", "input", "forget", "candidate", "output"}
    assert torch.equal(trace.joined("", "cell"), memory[:, None])
    assert torch.equal(trace.joined("", "hidden"), hidden[:, None])
    torch.testing.assert_close(trace.joined("", "output")[:, 0] * memory.tanh(), hidden)


@pytest.mark.parametrize(
    ("initial", "error", "message"),
    [
        (torch.zeros(1, B, U), TypeError, r"initial must"),
        (
            (torch.zeros(B, U), torch.zeros(1, B, U)),
            ValueError,
            "initial hidden must",
        ),
        (
            (torch.zeros(1, B, U), torch.zeros(1, B, U).double()),
            TypeError,
            "initial cell must be torch.float32 like the layer, got torch.float64",
        ),
    ],
)
def test_bad_initial_state(initial, error, message):
    with pytest.raises(error, match=message):
        LSTM(D, U)(torch.zeros(B, 2, D), initial=initial)
