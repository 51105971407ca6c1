"""Gated recurrent units: against torch.nn, by hand, and under masks and padding."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gates2heads.layers.recurrent import GRU, GRUCell, gru_step

B, S, D, U = 5, 7, 3, 11
LENGTHS = [4, 7, 2, 1, 5]
MASK = torch.arange(S) < torch.tensor(LENGTHS)[:, None]
SHAPES = [(layers, both) for layers in (1, 2, 3) for both in (False, True)]


def twins(layers, bidirectional):
    """Ours and PyTorch's with the same weights, in double precision."""
    ours = GRU(D, U, layers, bidirectional).double()
    theirs = nn.GRU(D, U, layers, batch_first=True, bidirectional=bidirectional).double()
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def leaf(*shape):
    return torch.randn(*shape, dtype=torch.double).requires_grad_()


def run_theirs(gru, inputs, initial, mask):
    """nn.GRU; where there is a mask, on packed sequences."""
    if mask is None:
        return gru(inputs, initial)
    packed = pack_padded_sequence(inputs, mask.sum(1), batch_first=True, enforce_sorted=False)
    states, final = gru(packed, initial)
    return pad_packed_sequence(states, batch_first=True, total_length=S)[0], final


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "packed"])
@pytest.mark.parametrize("with_initial", [False, True])
@pytest.mark.parametrize(("layers", "bidirectional"), SHAPES)
def test_agrees_with_torch(layers, bidirectional, with_initial, mask, parity):
    ours, theirs = twins(layers, bidirectional)
    directions = 1 + bidirectional
    inputs, slow_inputs = leaf(B, S, D), None
    slow_inputs = inputs.detach().clone().requires_grad_()
    initial = slow_initial = None
    if with_initial:
        initial = leaf(layers * directions, B, U)
        slow_initial = initial.detach().clone().requires_grad_()
    states, final = ours(inputs, mask=mask, initial=initial)
    expected, expected_final = run_theirs(theirs, slow_inputs, slow_initial, mask)
    assert states.shape == (B, S, directions * U)
    if mask is not None:  # packing writes zeros at padding, we carry the state on
        states, expected = states[mask], expected[mask]
    directions_of_gradient = torch.randn_like(states), torch.randn_like(final)
    for result in ((states, final), (expected, expected_final)):
        sum((r * d).sum() for r, d in zip(result, directions_of_gradient, strict=True)).backward()
    leaves = [inputs, *([initial] if with_initial else []), *ours.parameters()]
    others = [slow_inputs, *([slow_initial] if with_initial else [])]
    others += [dict(theirs.named_parameters())[name] for name, _ in ours.named_parameters()]
    parity(
        "GRU" if mask is None else "GRU(mask)",
        "nn.GRU" if mask is None else "nn.GRU on packed sequences",
        ([states, final], [expected, expected_final]),
        ([own.grad for own in leaves], [other.grad for other in others]),
    )


def test_cell_agrees_with_torch(parity):
    theirs = nn.GRUCell(D, U).double()
    ours = GRUCell(D, U).double()
    ours.load_state_dict(theirs.state_dict())
    leaves = leaf(B, D), leaf(B, U)
    others = [own.detach().clone().requires_grad_() for own in leaves]
    out, expected = ours(*leaves), theirs(*others)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (expected * direction).sum().backward()
    parity(
        "GRUCell",
        "nn.GRUCell",
        ([out], [expected]),
        (
            [own.grad for own in [*leaves, *ours.parameters()]],
            [other.grad for other in [*others, *theirs.parameters()]],
        ),
    )


def test_weights_load_into_the_twin_of_torch():
    for layers, both in SHAPES:
        ours = GRU(D, U, layers, both)
        nn.GRU(D, U, layers, batch_first=True, bidirectional=both).load_state_dict(
            ours.state_dict()
        )
        assert all(0 < p.abs().max() <= 1 / math.sqrt(U) for p in ours.parameters())


def test_step_by_hand():
    # One unit. Reset: σ(0) = 1/2. Update: σ(ln 3) = 3/4. The state 2 is carried into the candidate
    # as 2·3 + 4 = 10, halved by the reset gate: 5; with the input's c that is tanh(c + 5) = 0.6
    # for c = artanh 0.6 − 5. New state: 3/4 · 2 + 1/4 · 0.6 = 1.65.
    projected = torch.tensor([[0.0, math.log(3), math.atanh(0.6) - 5]])
    weight_hh, bias_hh = torch.tensor([[0.0], [0.0], [3.0]]), torch.tensor([0.0, 0.0, 4.0])
    hidden, gates = gru_step(projected, torch.tensor([[2.0]]), weight_hh, bias_hh)
    torch.testing.assert_close(gates["reset"], torch.tensor([[0.5]]))
    torch.testing.assert_close(gates["update"], torch.tensor([[0.75]]))
    torch.testing.assert_close(gates["candidate"], torch.tensor([[0.6]]))
    torch.testing.assert_close(hidden, torch.tensor([[1.65]]))


def test_sequence_by_hand():
    # No weights at all, update gate σ(0) = 1/2, candidate tanh(artanh 0.8) = 0.8:
    # h goes 0 → 0.4 → 0.6 → 0.7, halving its distance to 0.8 at each step.
    gru = GRU(1, 1)
    for parameter in gru.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        gru.bias_ih_l0[2] = math.atanh(0.8)
    states, final = gru(torch.zeros(1, 3, 1))
    torch.testing.assert_close(states[0, :, 0], torch.tensor([0.4, 0.6, 0.7]))
    torch.testing.assert_close(final, torch.tensor([[[0.7]]]))


def test_the_gates_read_a_joined_context_as_bahdanau_writes_them(parity):
    """Bahdanau et al. 2015, A.2: each gate has one matrix for y, one for the context, one for s.

        r = σ(W_r y + C_r c + U_r s)      z = σ(W_z y + C_z c + U_z s)
        s̃ = tanh(W y + C c + r ∘ (U s))   s' = (1 − z) ∘ s + z ∘ s̃

    Two conventions differ from the paper's. Its z takes the *new* state, ours keeps the old one:
    z_paper = 1 − Z, which is the same gate with its weights negated, since 1 − σ(x) = σ(−x).
    And it resets before the product, U (r ∘ s); ours, as in torch, after it.
    """
    embedding_size, context_size = 5, 13
    cell = GRUCell(embedding_size + context_size, U).double()
    leaves = y, c, s = leaf(B, embedding_size), leaf(B, context_size), leaf(B, U)
    out = cell(torch.cat([y, c], dim=-1), s)
    direction = torch.randn_like(out)
    gradients = torch.autograd.grad((out * direction).sum(), [*leaves, *cell.parameters()])

    others = slow_y, slow_c, slow_s = [own.detach().clone().requires_grad_() for own in leaves]
    parameters = [p.detach().clone().requires_grad_() for p in cell.parameters()]
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    rows = weight_ih.chunk(3), weight_hh.chunk(3), bias_ih.chunk(3), bias_hh.chunk(3)
    (joined_r, joined_z, joined), (u_r, u_z, u), (b_r, b_z, b), (d_r, d_z, d) = rows
    w_r, c_r = joined_r[:, :embedding_size], joined_r[:, embedding_size:]
    w_z, c_z = -joined_z[:, :embedding_size], -joined_z[:, embedding_size:]  # the paper's z
    w, c_s = joined[:, :embedding_size], joined[:, embedding_size:]
    rows = []
    for y_, c_, s_ in zip(slow_y, slow_c, slow_s, strict=True):
        r = torch.sigmoid(w_r @ y_ + c_r @ c_ + u_r @ s_ + b_r + d_r)
        z = torch.sigmoid(w_z @ y_ + c_z @ c_ - u_z @ s_ - b_z - d_z)
        candidate = torch.tanh(w @ y_ + c_s @ c_ + b + r * (u @ s_ + d))
        rows.append((1 - z) * s_ + z * candidate)
    expected = torch.stack(rows)
    slow_gradients = torch.autograd.grad((expected * direction).sum(), [*others, *parameters])
    parity(
        "GRUCell on [y; c]",
        "Bahdanau et al. 2015, A.2, three matrices a gate",
        ([out], [expected]),
        (gradients, slow_gradients),
    )


def run(gru, inputs, mask, direction):
    """States and final at real tokens, and the gradients of the parameters."""
    states, final = gru(inputs, mask=mask)
    loss = (states[mask] * direction).sum() + final.square().sum()
    return states[mask], final, torch.autograd.grad(loss, list(gru.parameters()))


@given(
    seed=st.integers(0, 2**31),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    extra=st.integers(1, 5),
    layers=st.integers(1, 2),
    both=st.booleans(),
)
def test_more_padding_changes_nothing(seed, lengths, extra, layers, both):
    torch.manual_seed(seed)
    gru = GRU(D, U, layers, both).double()
    inputs = torch.randn(len(lengths), max(lengths), D).double()
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    direction = torch.randn(int(mask.sum()), U * (1 + both)).double()
    padded = F.pad(inputs, (0, 0, 0, extra), value=7.0)
    short = run(gru, inputs, mask, direction)
    long = run(gru, padded, F.pad(mask, (0, extra)), direction)
    torch.testing.assert_close(long, short)


@given(seed=st.integers(0, 2**31), real=st.lists(st.booleans(), min_size=2, max_size=7))
def test_a_masked_position_anywhere_is_as_if_it_were_not_there(seed, real):
    torch.manual_seed(seed)
    real = torch.tensor([True, *real])
    gru = GRU(D, U, bidirectional=True).double()
    inputs = torch.randn(1, len(real), D).double()
    states, final = gru(inputs, mask=real)
    expected, expected_final = gru(inputs[:, real])
    torch.testing.assert_close(states[:, real], expected)
    torch.testing.assert_close(final, expected_final)
    # The forward state waits at masked positions.
    waiting = states[0, :, :U][1:][~real[1:]]
    torch.testing.assert_close(waiting, states[0, :, :U][:-1][~real[1:]], rtol=0, atol=0)


@given(seed=st.integers(0, 2**31))
def test_the_backward_direction_is_the_forward_one_on_the_reversed_input(seed):
    torch.manual_seed(seed)
    gru, one_way = GRU(D, U, bidirectional=True), GRU(D, U)
    backward = {n.removesuffix("_reverse"): p for n, p in gru.state_dict().items() if "rev" in n}
    one_way.load_state_dict(backward)
    inputs = torch.randn(B, S, D)
    states, final = gru(inputs)
    expected, expected_final = one_way(inputs.flip(1))
    torch.testing.assert_close(states[..., U:], expected.flip(1))
    torch.testing.assert_close(final[1], expected_final[0])


def test_a_sequence_without_a_real_token_keeps_its_initial_state():
    gru = GRU(D, U)
    mask, initial = MASK.clone(), torch.randn(1, B, U)
    mask[2] = False
    states, final = gru(torch.randn(B, S, D), mask=mask, initial=initial)
    assert torch.equal(final[0, 2], initial[0, 2])
    assert torch.equal(states[2], initial[0, 2].expand(S, U))


@pytest.mark.parametrize("both", [False, True])
def test_runs_in_mixed_precision_near_the_full_one(both):
    gru = GRU(D, U, 2, both)
    inputs = torch.randn(B, S, D)
    expected, _ = gru(inputs, mask=MASK)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states, _ = gru(inputs, mask=MASK)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, expected, rtol=0, atol=0.03)
    states.sum().backward()
    assert all(p.grad.isfinite().all() for p in gru.parameters())


def test_layer_refuses_a_state_of_another_size():
    gru, inputs = GRU(D, U, 2, True), torch.randn(B, S, D)
    with pytest.raises(ValueError, match=r"inputs must"):
        gru(inputs[:, :0])
    with pytest.raises(ValueError, match=r"initial must"):
        gru(inputs, initial=torch.zeros(2, B, U))


@pytest.mark.parametrize("name", ["input_size", "hidden_size", "num_layers"])
def test_refuses_sizes_that_cannot_be(name):
    sizes = {"input_size": D, "hidden_size": U, "num_layers": 2}
    with pytest.raises(ValueError, match=f"{name} must"):
        GRU(**{**sizes, name: 0})
    with pytest.raises(TypeError, match=f"{name} must"):
        GRU(**{**sizes, name: 2.5})
