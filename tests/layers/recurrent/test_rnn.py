"""The plain recurrent cell; the layer is compared with its twin in test_unroll.py."""

import math

import pytest
import torch
from torch import nn

from gates2heads.layers.record import record
from gates2heads.layers.recurrent.rnn import RNN, RNNCell, rnn_step

B, D, U = 5, 3, 7


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_cell_equals_torch(parity, nonlinearity):
    cell = RNNCell(D, U, nonlinearity).double()
    twin = nn.RNNCell(D, U, nonlinearity=nonlinearity).double()
    cell.load_state_dict(twin.state_dict())
    inputs = torch.randn(B, D, dtype=torch.double, requires_grad=True)
    hidden = torch.randn(B, U, dtype=torch.double, requires_grad=True)
    results = []
    for module in (cell, twin):
        output = module(inputs, hidden)
        wanted = [inputs, hidden, *module.parameters()]
        results.append(([output], torch.autograd.grad(output.square().sum(), wanted)))
    parity("RNNCell", "nn.RNNCell", *zip(*results, strict=True))


def test_by_hand():
    # h' = tanh(W x + b + U h): unit 0 sees 2 + 1·0.5 + 0·1 = 2.5, unit 1 sees -1 + 3·0.5 - 1·1
    projected = torch.tensor([[2.0, -1.0]])
    hidden = torch.tensor([[0.5, 1.0]])
    weight_hh = torch.tensor([[1.0, 0.0], [3.0, -1.0]])
    after = rnn_step(projected, hidden, weight_hh)
    torch.testing.assert_close(after, torch.tensor([[math.tanh(2.5), math.tanh(-0.5)]]))
    rectified = rnn_step(projected, hidden, weight_hh, nonlinearity="relu")
    torch.testing.assert_close(rectified, torch.tensor([[2.5, 0.0]]))


def test_the_layer_is_the_cell_step_by_step():
    layer, cell = RNN(D, U), RNNCell(D, U)
    cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
    inputs, hidden = torch.randn(B, 11, D), torch.zeros(B, U)
    states, _ = layer(inputs)
    for step in range(11):
        hidden = cell(inputs[:, step], hidden)
        torch.testing.assert_close(states[:, step], hidden)


def test_cell_notes_one_step():
    cell = RNNCell(D, U)
    with record(cell) as trace:
        hidden = cell(torch.randn(B, D), torch.zeros(B, U))
    assert torch.equal(trace.joined("", "hidden"), hidden[:, None])


def test_bad_initial_state():
    with pytest.raises(ValueError, match=r"initial must"):
        RNN(D, U)(torch.zeros(B, 2, D), initial=torch.zeros(B, U))
