"""clamp_gates: a gate that is held is one whose bias is so large that nothing else counts."""

import copy
import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.layers.record import record
from gates2heads.layers.recurrent import (
    GRU,
    LSTM,
    RNN,
    ContextGRUCell,
    GRUCell,
    LSTMCell,
    clamp_gates,
    gru_step,
    lstm_step,
)

B, S, D, U = 3, 7, 5, 11
ROWS = {"input": 0, "forget": 1, "output": 3, "reset": 0, "update": 1}  # blocks of the weights
FAR = 1000.0  # σ(1000) is 1 to the last digit, σ(−1000) is 0
GATES = {LSTM: ("input", "forget", "output"), GRU: ("reset", "update")}
KINDS = [(kind, gate) for kind, gates in GATES.items() for gate in gates]


def built(kind, **options):
    return kind(D, U, **options).double()


def run(layer, inputs):
    states, final = layer(inputs)
    return (states, *(final if isinstance(final, tuple) else (final,)))


def with_bias(layer, gate, open_, units, suffix="_l0"):
    """A copy of the layer whose gate is open or shut by its bias, whatever it reads."""
    twin = copy.deepcopy(layer)
    rows = torch.tensor(units) + ROWS[gate] * U
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(twin, name + suffix)[rows] = 0
        getattr(twin, "bias_ih" + suffix)[rows] = FAR if open_ else -FAR
    return twin


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("units", [None, [2], [0, 3, 10]])
@pytest.mark.parametrize("open_", [False, True])
@pytest.mark.parametrize(("kind", "gate"), KINDS)
def test_held_at_0_or_1_is_a_bias_that_outweighs_all(kind, gate, open_, units, recorded, parity):
    layer = built(kind)
    twin = with_bias(layer, gate, open_, list(range(U)) if units is None else units)
    inputs = torch.randn(B, S, D, dtype=torch.double, requires_grad=True)
    results = []
    for module, held in ((layer, {gate: float(open_)}), (twin, {})):
        with clamp_gates(module, held, units=units):
            if recorded:
                with record(module):
                    outputs = run(module, inputs)
            else:
                outputs = run(module, inputs)
        total = sum(output.square().sum() for output in outputs)
        results.append((outputs, torch.autograd.grad(total, [inputs, *module.parameters()])))
    name = f"clamp_gates, {kind.__name__}, {gate} at {int(open_)}, units {units}"
    ours, theirs = results
    # What leads to a gate that is held has no gradient; in the twin it has none either, but for
    # the weights that were made zero and still read the inputs.
    parity(name, "a bias that outweighs all", (ours[0], theirs[0]), (ours[1], theirs[1]))
    assert not torch.allclose(outputs[0], run(layer, inputs)[0])


@pytest.mark.parametrize("kind", GATES)
def test_nothing_held_is_the_untouched_layer_to_the_last_bit(kind):
    layer, inputs = built(kind), torch.randn(B, S, D, dtype=torch.double)
    before = run(layer, inputs)
    with clamp_gates(layer, {}):
        within = run(layer, inputs)
    with clamp_gates(layer, dict.fromkeys(GATES[kind], 0.5), units=[]):
        nobody = run(layer, inputs)
    with pytest.raises(RuntimeError, match="x"), clamp_gates(layer, {GATES[kind][0]: 0}):
        raise RuntimeError("x")
    for outputs in (within, nobody, run(layer, inputs)):
        assert all(torch.equal(*pair) for pair in zip(outputs, before, strict=True))


@pytest.mark.parametrize("kind", GATES)
def test_its_own_gates_put_back_change_nothing(kind):
    """A run whose gates are held, step by step, at what they were is the same run."""
    layer = built(kind)
    cell = {LSTM: LSTMCell, GRU: GRUCell}[kind](D, U).double()
    cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
    inputs = torch.randn(1, S, D, dtype=torch.double)
    with record(layer) as trace:
        states, _ = layer(inputs)
    state = [torch.zeros(1, U, dtype=torch.double)] * (1 + (kind is LSTM))
    for step in range(S):
        own = {name: trace.joined("", f"{name}_l0")[0, step] for name in GATES[kind]}
        held = lambda gate, values, own=own: own[gate][None]  # noqa: E731
        if kind is LSTM:
            projected = inputs[:, step] @ cell.weight_ih.T + cell.bias_ih + cell.bias_hh
            *state, _ = lstm_step(projected, *state, cell.weight_hh, clamp=held)
        else:
            projected = inputs[:, step] @ cell.weight_ih.T + cell.bias_ih
            hidden, _ = gru_step(projected, *state, cell.weight_hh, cell.bias_hh, clamp=held)
            state = [hidden]
        torch.testing.assert_close(state[0], states[:, step])


def test_by_hand():
    # One unit, no weights: I = F = O = σ(0) = ½, candidate tanh(artanh 0.8) = 0.8. The cell goes
    # 0 → 0.4 → 0.6. With F = 1 and I = ¼ it counts: 0.2, 0.4; with I = 0 it stays at its start.
    layer = LSTM(1, 1)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.bias_ih_l0[2] = torch.atanh(torch.tensor(0.8))
    inputs = torch.zeros(1, 2, 1)

    def cells(gates, start=0.0):
        with record(layer) as trace, clamp_gates(layer, gates):
            layer(inputs, initial=(torch.zeros(1, 1, 1), torch.full((1, 1, 1), start)))
        return trace.joined("", "cell_l0").flatten()

    torch.testing.assert_close(cells({}), torch.tensor([0.4, 0.6]))
    torch.testing.assert_close(cells({"forget": 1, "input": 0.25}), torch.tensor([0.2, 0.4]))
    torch.testing.assert_close(cells({"forget": 1, "input": 0}, 0.7), torch.tensor([0.7, 0.7]))


@given(
    value=st.floats(0, 1),
    units=st.sets(st.integers(0, U - 1)),
    which=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31),
)
def test_what_is_recorded_is_what_was_held_and_the_others_are_free(value, units, which, seed):
    kind, gate = which
    torch.manual_seed(seed)
    layer = built(kind)
    with record(layer) as trace, clamp_gates(layer, {gate: value}, units=units):
        layer(torch.randn(B, 1, D, dtype=torch.double))
    torch.manual_seed(seed)
    twin = built(kind)
    with record(twin) as free:
        twin(torch.randn(B, 1, D, dtype=torch.double))
    others = sorted(set(range(U)) - units)
    for name in GATES[kind]:
        seen, own = (one.joined("", f"{name}_l0") for one in (trace, free))
        held = list(units) if name == gate else []
        assert (seen[..., held] == value).all()
        rest = others if name == gate else list(range(U))
        assert torch.equal(
            seen[..., rest], own[..., rest]
        )  # in the first step nothing else differs


@pytest.mark.parametrize("kind", GATES)
def test_an_open_way_carries_the_state_unchanged_past_padding_too(kind):
    layer = built(kind, num_layers=2, bidirectional=True)
    carry = {"forget": 1.0, "input": 0.0} if kind is LSTM else {"update": 1.0}
    start = torch.randn(4, B, U, dtype=torch.double)
    initial = (torch.zeros_like(start), start) if kind is LSTM else start
    mask = torch.arange(S) < torch.tensor([S, 2, 5])[:, None]
    with clamp_gates(layer, carry):
        _, final = layer(torch.randn(B, S, D, dtype=torch.double), mask=mask, initial=initial)
    assert torch.equal(final[1] if kind is LSTM else final, start)


def test_one_layer_and_direction_or_all():
    layer = built(LSTM, num_layers=2, bidirectional=True)
    inputs = torch.randn(B, S, D, dtype=torch.double)
    suffixes = ["_l0", "_l0_reverse", "_l1", "_l1_reverse"]

    def held(gates):
        with record(layer) as trace, clamp_gates(layer, gates):
            layer(inputs)
        return [bool((trace.joined("", "input" + suffix) == 0.25).all()) for suffix in suffixes]

    assert held({"input": 0.25}) == [True] * 4
    assert held({"input_l0_reverse": 0.25}) == [False, True, False, False]
    assert held({"forget": 0.25}) == [False] * 4


def test_in_a_block_within_a_block_both_hold_and_the_inner_one_counts():
    layer, inputs = built(GRU), torch.randn(B, S, D, dtype=torch.double)

    def updates(trace):
        return trace.joined("", "update_l0")[0, -1]

    with clamp_gates(layer, {"update": 0.5}, units=[1, 2]):
        with record(layer) as trace, clamp_gates(layer, {"update": 0.0}, units=[2, 3]):
            layer(inputs)
        assert updates(trace)[1:4].tolist() == [0.5, 0.0, 0.0]
        with record(layer) as trace:
            layer(inputs)
        assert updates(trace)[1:3].tolist() == [0.5, 0.5]
        assert updates(trace)[3] != 0


@pytest.mark.parametrize("cell", [LSTMCell(D, U), GRUCell(D, U), ContextGRUCell(2, D - 2, U)])
def test_a_cell_alone_can_be_held(cell):
    gates = dict.fromkeys(cell.gates, 0.25)
    inputs, state = torch.randn(B, D), torch.randn(B, U)
    given = (inputs, state, state) if isinstance(cell, LSTMCell) else (inputs, state)
    if isinstance(cell, ContextGRUCell):
        given = (inputs[:, :2], inputs[:, 2:], state)
    with record(cell) as trace, clamp_gates(cell, gates):
        cell(*given)
    for gate in gates:
        assert (trace.joined("", gate) == 0.25).all()


def test_copies_and_other_layers_stay_free_and_nothing_is_saved():
    layer, other, inputs = LSTM(D, U), LSTM(D, U), torch.randn(B, S, D)
    before = other(inputs)[0]
    with clamp_gates(layer, {"output": 0}):
        assert not layer(inputs)[0].any()
        assert torch.equal(other(inputs)[0], before)
        assert copy.deepcopy(layer)(inputs)[0].any()
        torch.save(layer, saved := io.BytesIO())
    assert layer(inputs)[0].any()
    saved.seek(0)
    assert torch.load(saved, weights_only=False)(inputs)[0].any()


@pytest.mark.parametrize(
    ("layer", "gates", "units", "error", "message"),
    [
        (LSTM(D, U), {"update": 1}, None, ValueError, "of those that layer has, .*; got 'update'"),
        (GRU(D, U), {"update_l1": 1}, None, ValueError, "reset_l0, update_l0.*; got 'update_l1'"),
        (RNN(D, U), {"forget": 1}, None, ValueError, "none, for it has no gates; got 'forget'"),
        (
            LSTM(D, U),
            {"forget": 1.5},
            None,
            ValueError,
            r"gates\['forget'\] must",
        ),
        (LSTM(D, U), {"forget": "open"}, None, TypeError, r"gates\['forget'\] must"),
        (LSTM(D, U), {}, [1.0], TypeError, "units must"),
        (LSTM(D, U), {}, [U], ValueError, "units must"),
    ],
)
def test_a_mistake_gets_one_sentence(layer, gates, units, error, message):
    with pytest.raises(error, match=message), clamp_gates(layer, gates, units=units):
        pass
