"""RNN, GRU and LSTM through the machinery that they share, each beside its twin in torch.nn."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gates2heads.layers.record import record
from gates2heads.layers.recurrent import GRU, LSTM, RNN
from gates2heads.layers.recurrent.unroll import Unrolled

B, S, D, U = 5, 11, 3, 7
LENGTHS = torch.tensor([11, 2, 7, 1, 5])
MASK = torch.arange(S) < LENGTHS[:, None]
FAMILIES = [
    pytest.param(lambda **kw: RNN(D, U, **kw), lambda **kw: nn.RNN(D, U, **kw), id="rnn"),
    pytest.param(
        lambda **kw: RNN(D, U, nonlinearity="relu", **kw),
        lambda **kw: nn.RNN(D, U, nonlinearity="relu", **kw),
        id="rnn-relu",
    ),
    pytest.param(lambda **kw: GRU(D, U, **kw), lambda **kw: nn.GRU(D, U, **kw), id="gru"),
    pytest.param(lambda **kw: LSTM(D, U, **kw), lambda **kw: nn.LSTM(D, U, **kw), id="lstm"),
]
families = pytest.mark.parametrize(("ours", "theirs"), FAMILIES)
modes = pytest.mark.parametrize(
    ("num_layers", "bidirectional"), [(1, False), (1, True), (3, False), (2, True)]
)


def pair(ours, theirs, **modes):
    torch.manual_seed(3)
    layer, twin = ours(**modes).double(), theirs(batch_first=True, **modes).double()
    layer.load_state_dict(twin.state_dict())
    return layer, twin


def as_tuple(final):
    return final if isinstance(final, tuple) else (final,)


def random_initial(layer):
    shape = (layer.num_layers * (1 + layer.bidirectional), B, U)
    start = torch.randn(shape, dtype=torch.double, requires_grad=True)
    if not isinstance(layer, LSTM):
        return start
    return start, torch.randn(shape, dtype=torch.double, requires_grad=True)


def gradients(outputs, wanted):
    """Gradients of a sum in which every output counts differently."""
    generator = torch.Generator().manual_seed(5)
    total = sum(
        (output * torch.randn(output.shape, generator=generator, dtype=output.dtype)).sum()
        for output in outputs
    )
    return torch.autograd.grad(total, wanted)


@families
@modes
def test_equals_torch(parity, ours, theirs, num_layers, bidirectional):
    layer, twin = pair(ours, theirs, num_layers=num_layers, bidirectional=bidirectional)
    inputs = torch.randn(B, S, D, dtype=torch.double, requires_grad=True)
    initial = random_initial(layer)
    results = []
    for module, (states, final) in (
        (layer, layer(inputs, initial=initial)),
        (twin, twin(inputs, initial)),
    ):
        outputs = [states, *as_tuple(final)]
        wanted = [inputs, *as_tuple(initial), *module.parameters()]
        results.append((outputs, gradients(outputs, wanted)))
    parity(type(layer).__name__, f"nn.{type(twin).__name__}", *zip(*results, strict=True))


@families
@modes
def test_equals_torch_on_packed_sequences(parity, ours, theirs, num_layers, bidirectional):
    layer, twin = pair(ours, theirs, num_layers=num_layers, bidirectional=bidirectional)
    inputs = torch.randn(B, S, D, dtype=torch.double, requires_grad=True)
    initial = random_initial(layer)
    states, final = layer(inputs, mask=MASK, initial=initial)
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    twin_states, twin_final = twin(packed, initial)
    twin_states, _ = pad_packed_sequence(twin_states, batch_first=True)
    results = []
    for module, outputs in (
        (layer, [states[MASK], *as_tuple(final)]),
        (twin, [twin_states[MASK], *as_tuple(twin_final)]),
    ):
        wanted = [inputs, *as_tuple(initial), *module.parameters()]
        results.append((outputs, gradients(outputs, wanted)))
    name = type(layer).__name__
    parity(f"{name} with a mask", f"nn.{name}, packed sequences", *zip(*results, strict=True))


@families
def test_a_missing_initial_state_is_zero(ours, theirs):
    layer, twin = pair(ours, theirs)
    inputs = torch.randn(B, S, D, dtype=torch.double)
    torch.testing.assert_close(layer(inputs)[0], twin(inputs)[0])


@families
def test_padding_carries_the_state_on(ours, theirs):
    layer, _ = pair(ours, theirs)
    states, final = layer(torch.randn(B, S, D, dtype=torch.double), mask=MASK)
    for row, length in enumerate(LENGTHS):
        assert (states[row, length - 1 :] == as_tuple(final)[0][0, row]).all()


@families
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_padding_changes_nothing(ours, theirs, data):
    layer, _ = pair(ours, theirs, bidirectional=True)
    length = data.draw(st.integers(1, 6), label="length")
    before = data.draw(st.integers(0, 4), label="padding before")
    after = data.draw(st.integers(0, 4), label="padding after")
    inputs = torch.randn(2, length, D, dtype=torch.double)
    padded = torch.full((2, before + length + after, D), 1e3, dtype=torch.double)
    padded[:, before : before + length] = inputs
    mask = torch.zeros(padded.shape[:2], dtype=torch.bool)
    mask[:, before : before + length] = True
    states, final = layer(inputs)
    padded_states, padded_final = layer(padded, mask=mask)
    torch.testing.assert_close(padded_states[:, before : before + length], states)
    for one, other in zip(as_tuple(padded_final), as_tuple(final), strict=True):
        torch.testing.assert_close(one, other)


@families
@settings(max_examples=10, deadline=None)
@given(step=st.integers(0, S - 1))
def test_each_direction_reads_its_own_side(ours, theirs, step):
    layer, _ = pair(ours, theirs, bidirectional=True)
    inputs = torch.randn(B, S, D, dtype=torch.double)
    changed = inputs.clone()
    changed[:, step] += 1
    moved = (layer(inputs)[0] != layer(changed)[0]).any(0)  # (S, 2U)
    assert not moved[:step, :U].any()
    assert not moved[step + 1 :, U:].any()
    assert moved[step, :U].any()
    assert moved[step, U:].any()


@families
def test_recorded_equals_unrecorded_and_notes_every_step(ours, theirs):
    layer, _ = pair(ours, theirs, num_layers=2, bidirectional=True)
    inputs = torch.randn(B, S, D, dtype=torch.double)
    expected, _ = layer(inputs, mask=MASK)
    with record(layer) as trace:
        states, _ = layer(inputs, mask=MASK)
    assert torch.equal(states, expected)
    suffixes = ("_l0", "_l0_reverse", "_l1", "_l1_reverse")
    assert {name[name.index("_l") :] for name in trace[""]} == set(suffixes)
    for name in trace[""]:
        assert trace.joined("", name).shape == (B, S, U)


def test_the_backward_direction_notes_in_the_order_of_the_input():
    layer = GRU(D, U, bidirectional=True)
    with torch.no_grad():
        layer.weight_hh_l0_reverse.copy_(layer.weight_hh_l0)
        layer.bias_hh_l0_reverse.copy_(layer.bias_hh_l0)
        layer.weight_ih_l0_reverse.copy_(layer.weight_ih_l0)
        layer.bias_ih_l0_reverse.copy_(layer.bias_ih_l0)
    inputs = torch.randn(B, S, D)
    with record(layer) as trace:
        layer(torch.cat([inputs, inputs.flip(1)]))
    update, reverse = (trace.joined("", name) for name in ("update_l0", "update_l0_reverse"))
    torch.testing.assert_close(update[:B], reverse[B:].flip(1))


@families
def test_dropout_hides_what_a_layer_wrote_from_the_next(ours, theirs):
    layer, _ = pair(ours, theirs, num_layers=2, dropout=1.0)
    inputs = torch.randn(B, S, D, dtype=torch.double)
    states, _ = layer(inputs)
    assert torch.equal(states, layer(inputs + 1)[0])  # the second layer read zeros
    layer.eval()
    assert not torch.equal(layer(inputs)[0], layer(inputs + 1)[0])


@families
def test_dropout_spares_the_last_layer(ours, theirs):
    layer, _ = pair(ours, theirs)
    layer.dropout = 1.0
    inputs = torch.randn(B, S, D, dtype=torch.double)
    assert torch.equal(layer(inputs)[0], layer.eval()(inputs)[0])


@families
def test_half_precision_keeps_the_state_whole(ours, theirs):
    layer = ours(bidirectional=True)
    inputs = torch.randn(B, S, D)
    with torch.autocast("cpu", torch.bfloat16):
        states, _ = layer(inputs, mask=MASK)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, layer(inputs, mask=MASK)[0], atol=0.05, rtol=0.05)


@families
@pytest.mark.parametrize(
    ("inputs", "options", "error", "message"),
    [
        (torch.zeros(B, 0, D), {}, ValueError, r"inputs must"),
    ],
)
def test_bad_input(ours, theirs, inputs, options, error, message):
    with pytest.raises(error, match=message):
        ours()(inputs, **options)


@pytest.mark.parametrize("family", [RNN, GRU, LSTM])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"input_size": 0}, ValueError, "input_size must"),
        ({"hidden_size": -1}, ValueError, "hidden_size must"),
        ({"num_layers": 0}, ValueError, "num_layers must"),
        ({"num_layers": 1.5}, TypeError, "num_layers must"),
        ({"dropout": 2.0}, ValueError, r"dropout must"),
    ],
)
def test_bad_sizes(family, options, error, message):
    with pytest.raises(error, match=message):
        family(**{"input_size": D, "hidden_size": U, **options})


def test_a_subclass_must_say_what_a_step_does():
    with pytest.raises(NotImplementedError, match="Unrolled must"):
        Unrolled(D, U)._unroll(torch.zeros(B, S, D), None, {"initial": None})
