"""The two conventions of the reset gate, and the cell that reads a context.

The layer is compared with torch.nn.GRU in test_unroll.py and test_recurrent.py.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gates2heads.layers.recurrent.gru import GRU, ContextGRUCell, GRUCell, gru_step

B, D, C, U = 5, 3, 2, 7


def papers_gru(inputs, hidden, cell):
    """Cho et al. 2014, eq. 5–8, gate by gate; Z keeps the old state."""
    (w_r, w_z, w_c), (b_r, b_z, b_c) = cell.weight_ih.chunk(3), cell.bias_ih.chunk(3)
    (u_r, u_z, u_c), (a_r, a_z, a_c) = cell.weight_hh.chunk(3), cell.bias_hh.chunk(3)
    reset = torch.sigmoid(inputs @ w_r.T + b_r + hidden @ u_r.T + a_r)
    update = torch.sigmoid(inputs @ w_z.T + b_z + hidden @ u_z.T + a_z)
    candidate = torch.tanh(inputs @ w_c.T + b_c + (reset * hidden) @ u_c.T + a_c)
    return update * hidden + (1 - update) * candidate


def test_reset_before_the_product_is_the_papers(parity):
    cell = GRUCell(D, U, reset_after=False).double()
    inputs = torch.randn(B, D, dtype=torch.double, requires_grad=True)
    hidden = torch.randn(B, U, dtype=torch.double, requires_grad=True)
    results = []
    for output in (cell(inputs, hidden), papers_gru(inputs, hidden, cell)):
        wanted = [inputs, hidden, *cell.parameters()]
        results.append(([output], torch.autograd.grad(output.square().sum(), wanted)))
    parity(
        "GRUCell, reset before",
        "Cho et al. 2014, eq. 5–8, gate by gate",
        *zip(*results, strict=True),
    )


def test_reset_after_the_product_equals_torch():
    cell, twin = GRUCell(D, U), nn.GRUCell(D, U)
    cell.load_state_dict(twin.state_dict())
    inputs, hidden = torch.randn(B, D), torch.randn(B, U)
    torch.testing.assert_close(cell(inputs, hidden), twin(inputs, hidden))


def test_the_conventions_by_hand():
    # U = 2. The gates see zeros: R = σ(0) = ½ and Z = ½. The state (1, 2) is swapped by the
    # candidate's matrix, whose bias is 4. Before: tanh(swap(½·1, ½·2) + 4) = tanh(5, 4.5).
    # After: tanh(½ · (swap(1, 2) + 4)) = tanh(3, 2.5). Then h' = ½ h + ½ candidate.
    weight_hh = torch.zeros(6, 2)
    weight_hh[4:] = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    bias_hh = torch.tensor([0.0, 0.0, 0.0, 0.0, 4.0, 4.0])
    hidden = torch.tensor([[1.0, 2.0]])
    for reset_after, candidate in ((False, [5.0, 4.5]), (True, [3.0, 2.5])):
        after, gates = gru_step(
            torch.zeros(1, 6), hidden, weight_hh, bias_hh, reset_after=reset_after
        )
        assert (gates["reset"] == 0.5).all()
        assert (gates["update"] == 0.5).all()
        torch.testing.assert_close(gates["candidate"], torch.tensor([candidate]).tanh())
        expected = 0.5 * hidden + 0.5 * torch.tensor([candidate]).tanh()
        torch.testing.assert_close(after, expected)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), open_gate=st.booleans())
def test_the_conventions_agree_where_the_gate_is_open_or_shut(seed, open_gate):
    """With R = 1 nothing is reset; with R = 0 and no bias nothing is left. Between, they differ."""
    generator = torch.Generator().manual_seed(seed)
    projected = torch.randn(B, 3 * U, generator=generator)
    projected[:, :U] = 200.0 if open_gate else -200.0
    hidden = torch.randn(B, U, generator=generator)
    weight_hh = torch.randn(3 * U, U, generator=generator)
    options = (projected, hidden, weight_hh, torch.zeros(3 * U))
    after, _ = gru_step(*options, reset_after=True)
    before, _ = gru_step(*options, reset_after=False)
    torch.testing.assert_close(after, before)
    projected[:, :U] = 0.0
    after, _ = gru_step(*options, reset_after=True)
    before, _ = gru_step(*options, reset_after=False)
    assert not torch.allclose(after, before, atol=1e-3)


@pytest.mark.parametrize("reset_after", [True, False])
def test_the_layer_is_the_cell_step_by_step(reset_after):
    layer, cell = GRU(D, U, reset_after=reset_after), GRUCell(D, U, reset_after)
    cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
    inputs, hidden = torch.randn(B, 11, D), torch.zeros(B, U)
    states, final = layer(inputs)
    for step in range(11):
        hidden = cell(inputs[:, step], hidden)
        torch.testing.assert_close(states[:, step], hidden)
    torch.testing.assert_close(final[0], hidden)


def test_three_gates_read_the_context():
    """Bahdanau et al. 2015, A.1.1, with W and C as matrices of their own."""
    cell = ContextGRUCell(D, C, U)
    inputs, context, hidden = torch.randn(B, D), torch.randn(B, C), torch.randn(B, U)
    of_inputs, of_context = cell.weight_ih.split([D, C], dim=1)
    said = inputs @ of_inputs.T + context @ of_context.T + cell.bias_ih
    expected, _ = gru_step(said, hidden, cell.weight_hh, cell.bias_hh, reset_after=False)
    torch.testing.assert_close(cell(inputs, context, hidden), expected)
    assert of_context.shape == (3 * U, C)
