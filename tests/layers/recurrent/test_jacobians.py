"""Jacobians of recurrent steps: against autograd through the whole text, by hand, as products."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.recurrent import GRU, LSTM, RNN
from gates2heads.layers.recurrent.jacobians import influence, step_jacobians

S, D, U = 7, 3, 5
LAYERS = [RNN, GRU, LSTM]


@pytest.mark.parametrize("kind", LAYERS)
def test_the_product_is_what_autograd_finds_through_the_text(kind):
    torch.manual_seed(1)
    layer, inputs = kind(D, U).double(), torch.randn(S, D, dtype=torch.double)
    parts = 1 + (kind is LSTM)

    def last_hidden(state):
        first, *more = state.view(parts, 1, 1, U).unbind()
        _, final = layer(inputs[None], initial=(first, *more) if more else first)
        return (final[0] if more else final).flatten()

    whole = torch.autograd.functional.jacobian(last_hidden, torch.zeros(parts * U).double())
    jacobians = step_jacobians(layer, inputs)
    assert jacobians.shape == (S, parts * U, parts * U)
    product = torch.linalg.multi_dot(list(jacobians.flip(0)))[:U]
    torch.testing.assert_close(product, whole)
    norms = influence(jacobians, U)
    assert norms.shape == (S + 1,)
    assert norms[0].item() == pytest.approx(1)
    assert norms[S].item() == pytest.approx(torch.linalg.matrix_norm(whole, 2).item())


def test_a_plain_step_by_hand():
    layer = RNN(1, 1)
    with torch.no_grad():
        for name, value in (("weight_ih", 1.0), ("weight_hh", 0.5), ("bias_ih", 0), ("bias_hh", 0)):
            getattr(layer, f"{name}_l0").fill_(value)
    jacobians = step_jacobians(layer, torch.tensor([[1.0], [0.0]]))
    first = math.tanh(1.0)
    second = math.tanh(0.5 * first)
    by_hand = [0.5 * (1 - first**2), 0.5 * (1 - second**2)]
    assert jacobians.flatten().tolist() == pytest.approx(by_hand)
    assert influence(jacobians, 1).tolist() == pytest.approx([1, by_hand[1], math.prod(by_hand)])


@given(st.floats(-2, 2), st.integers(1, 20))
def test_a_number_times_itself_is_a_power(factor, steps):
    jacobians = torch.full((steps, 1, 1), factor, dtype=torch.double)
    powers = [abs(factor) ** distance for distance in range(steps + 1)]
    assert influence(jacobians, 1).tolist() == pytest.approx(powers)


def test_only_the_hidden_rows_count_at_the_end():
    # The cell, kept whole, shows in the hidden state only through the last step.
    step = torch.tensor([[0.0, 0.25], [0.0, 1.0]])
    assert influence(step.expand(3, 2, 2), 1).tolist() == pytest.approx([1, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: step_jacobians(GRU(D, U, 2), torch.ones(S, D)), ValueError, "one layer and one"),
        (
            lambda: step_jacobians(GRU(D, U, bidirectional=True), torch.ones(S, D)),
            ValueError,
            "layer must",
        ),
        (lambda: step_jacobians(GRU(D, U), torch.ones(S, D + 1)), ValueError, "inputs must"),
        (lambda: influence(torch.ones(3, 2, 2), 3), ValueError, "units must"),
        (lambda: influence(torch.full((3, 2, 2), math.nan), 1), ValueError, "finite"),
    ],
)
def test_what_is_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
