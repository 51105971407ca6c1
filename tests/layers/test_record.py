"""record: what the layers noted in the very pass that made the output, and nothing afterwards."""

import copy
import io

import pytest
import torch
from torch import nn

from gates2heads.layers.attention.scores import GeneralScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.record import is_recorded, note, record
from gates2heads.layers.recurrent import GRU, GRUCell

B, S, T, K, U, D = 3, 7, 5, 11, 13, 2


class Doubler(nn.Module):
    """Notes what it reads, under two names."""

    def forward(self, x):
        note(self, read=x, written=2 * x)
        return 2 * x


class Both(nn.Module):
    """A recurrent layer and an attention layer, with dropout that differs from pass to pass."""

    def __init__(self):
        super().__init__()
        self.encoder = GRU(K, U, bidirectional=True)
        self.drop = nn.Dropout(0.5)
        self.look = nn.ModuleDict({"attention": Attention(GeneralScore(K, 2 * U))})

    def forward(self, query, inputs):
        states, _ = self.encoder(self.drop(inputs))
        context, weights = self.look["attention"](query, states, states)
        return context, weights


def both():
    return Both().train(), torch.randn(B, T, K), torch.randn(B, S, K)


def test_by_hand():
    model = nn.Sequential(Doubler(), Doubler())
    with record(model) as trace:
        model(torch.tensor([[1.0, 3.0]]))
        model(torch.tensor([[5.0, 7.0]]))
    assert list(trace) == ["0", "1"]
    assert len(trace) == 2
    assert repr(trace) == "Trace(0, 1)"
    assert [t.tolist() for t in trace["1"]["read"]] == [[[2.0, 6.0]], [[10.0, 14.0]]]
    assert trace.joined("1", "written").tolist() == [[4.0, 12.0, 20.0, 28.0]]
    assert trace.joined("0", "read", dim=0).tolist() == [[1.0, 3.0], [5.0, 7.0]]


def test_notes_belong_to_the_pass_that_made_the_output():
    """With dropout a second pass would give other weights; the recorded ones are the pass's own."""
    model, query, inputs = both()
    with record(model) as trace:
        _, weights = model(query, inputs)
    (noted,) = trace["look.attention"]["weights"]
    assert torch.equal(noted, weights)
    assert not torch.equal(noted, model(query, inputs)[1])
    assert {"reset_l0", "update_l0", "update_l0_reverse"} <= trace["encoder"].keys()


def test_recording_changes_neither_output_nor_gradient():
    model, query, inputs = both()

    def run():
        torch.manual_seed(7)
        model.zero_grad()
        context, _ = model(query, inputs)
        context.square().sum().backward()
        return [context, *(p.grad for p in model.parameters())]

    plain = run()
    with record(model):
        recorded = run()
    assert all(torch.equal(a, b) for a, b in zip(plain, recorded, strict=True))


def test_notes_keep_no_graph():
    model, query, inputs = both()
    with record(model) as trace:
        model(query, inputs)
    tensors = [t for layer in trace for noted in trace[layer].values() for t in noted]
    assert tensors
    assert not any(t.requires_grad for t in tensors)


def everything_of(model):
    return {name: set(vars(module)) for name, module in model.named_modules()}


def through_a_file(model):
    held = io.BytesIO()
    torch.save(model, held)
    held.seek(0)
    return torch.load(held, weights_only=False)


def test_nothing_remains_after_the_block():
    model, query, inputs = both()
    before, state = everything_of(model), copy.deepcopy(model.state_dict())
    with record(model) as trace:
        assert all(is_recorded(module) for module in model.modules())
        model(query, inputs)
    assert everything_of(model) == before
    assert not any(is_recorded(module) for module in model.modules())
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())
    model(query, inputs)
    assert len(trace["look.attention"]["weights"]) == 1


def test_nothing_remains_when_the_block_raises():
    model, query, inputs = both()
    before = everything_of(model)
    with pytest.raises(ZeroDivisionError), record(model) as trace:  # noqa: PT012
        model(query, inputs)
        1 / 0  # noqa: B018
    assert everything_of(model) == before
    assert len(trace["look.attention"]["weights"]) == 1
    with record(model) as second:
        model(query, inputs)
    assert len(second["look.attention"]["weights"]) == 1


def test_refuses_to_record_what_is_recorded_and_the_first_recording_goes_on():
    model, query, inputs = both()
    for inner in (model, model.encoder, nn.Sequential(model)):
        with record(model) as trace:
            with pytest.raises(RuntimeError, match="model is being recorded already; leave"):
                record(inner).__enter__()
            model(query, inputs)
        assert len(trace["look.attention"]["weights"]) == 1


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, through_a_file])
def test_a_copy_of_what_is_recorded_is_not_recorded(duplicate):
    model, query, inputs = both()
    before = everything_of(model)
    with record(model) as trace:
        twin = duplicate(model)
        if duplicate is not copy.copy:  # a shallow copy shares its layers, and they are recorded
            assert not any(is_recorded(module) for module in twin.modules())
            twin(query, inputs)
            assert not len(trace)
        assert not is_recorded(twin)
        model(query, inputs)
    assert everything_of(twin) == before
    assert not any(is_recorded(module) for module in twin.modules())
    twin(query, inputs)
    assert len(trace["look.attention"]["weights"]) == 1
    with record(twin) as second:
        twin(query, inputs)
    assert len(second["look.attention"]["weights"]) == 1


def test_two_models_are_recorded_side_by_side():
    first, second = nn.Sequential(Doubler()), nn.Sequential(Doubler())
    with record(first) as one, record(second) as two:
        first(torch.tensor([[1.0]]))
        second(torch.tensor([[3.0]]))
    assert one.joined("0", "read").item() == 1
    assert two.joined("0", "read").item() == 3


def test_a_layer_that_stands_in_two_places_is_noted_once_a_run():
    layer = Doubler()
    model = nn.Sequential(layer, layer)
    with record(model) as trace:
        model(torch.ones(1, 1))
    assert [t.item() for t in trace["0"]["read"]] == [1, 2]


def test_names_who_noted_when_nobody_did():
    model = nn.Sequential(Doubler())
    with record(model) as trace:
        with pytest.raises(KeyError, match="layer 'x' noted nothing; recorded: nothing"):
            trace["x"]
        model(torch.ones(1, 1))
    with pytest.raises(KeyError, match="layer 'x' noted nothing; recorded: 0"):
        trace["x"]
    with pytest.raises(KeyError, match="layer '0' noted read, written, not 'weights'"):
        trace.joined("0", "weights")
    with pytest.raises(KeyError):
        trace["0"]["weights"]
    assert set(trace["0"]) == {"read", "written"}


def gates_from_states(gru, inputs, states, initial, suffix):
    """Recompute both gates from what the layer read and from the states that it wrote."""
    weight_ih, weight_hh, bias_ih, bias_hh = (
        getattr(gru, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    before = (
        torch.cat([states[:, 1:], initial[:, None]], dim=1)
        if suffix.endswith("reverse")
        else torch.cat([initial[:, None], states[:, :-1]], dim=1)
    )
    both_gates = torch.sigmoid(inputs @ weight_ih.T + bias_ih + before @ weight_hh.T + bias_hh)
    return both_gates[..., :U], both_gates[..., U : 2 * U]


def test_gates_stand_at_the_time_step_that_they_opened_in_both_directions():
    gru = GRU(K, U, num_layers=2, bidirectional=True).double()
    inputs, initial = torch.randn(B, S, K).double(), torch.randn(4, B, U).double()
    with record(gru) as trace:
        first = GRU(K, U, bidirectional=True).double()
        first.load_state_dict({n: p for n, p in gru.state_dict().items() if "_l0" in n})
        below, _ = first(inputs, initial=initial[:2])
        states, _ = gru(inputs, initial=initial)
    for layer, (read, wrote) in enumerate([(inputs, below), (below, states)]):
        for direction, suffix in enumerate((f"_l{layer}", f"_l{layer}_reverse")):
            own = wrote[..., direction * U : (direction + 1) * U]
            start = initial[2 * layer + direction]
            reset, update = gates_from_states(gru, read, own, start, suffix)
            torch.testing.assert_close(trace.joined("", "reset" + suffix), reset)
            torch.testing.assert_close(trace.joined("", "update" + suffix), update)


def test_a_cell_notes_its_gates_step_after_step():
    cell = GRUCell(D, U)
    hidden, steps = torch.zeros(B, U), torch.randn(B, S, D)
    states = [hidden]
    with record(cell) as trace:
        for inputs in steps.unbind(1):
            hidden = cell(inputs, hidden)
            states.append(hidden)
    before = torch.stack(states[:-1], dim=1)
    gates = torch.sigmoid(
        steps @ cell.weight_ih.T + cell.bias_ih + before @ cell.weight_hh.T + cell.bias_hh
    )
    torch.testing.assert_close(trace.joined("", "reset"), gates[..., :U])
    torch.testing.assert_close(trace.joined("", "update"), gates[..., U : 2 * U])
