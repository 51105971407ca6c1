"""The state of a Transformer: noting an order gives what copying at once would give."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.state import select
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer, TransformerState
from gates2heads.models.transformer.universal import UniversalTransformer

V, D, H, B, S, STEPS = 17, 6, 3, 3, 5, 4
REAL = torch.arange(S) < torch.tensor([[5], [2], [3]])
families = pytest.mark.parametrize("family", [Transformer, UniversalTransformer])


def build(family):
    torch.manual_seed(7)
    sizes = {"d_model": D, "nhead": H, "dim_feedforward": 11, "dropout": 0.0}
    return family(V, V, num_encoder_layers=1, num_decoder_layers=2, **sizes).double().eval()


def begin(model, masked=True):
    source = torch.randint(V, (B, S), generator=torch.Generator().manual_seed(5))
    return model.start(source, mask=REAL if masked else None)


def eager(state, rows):
    """Copy every tensor of a state of which no order is noted and no source is shared."""

    def copied(layers):
        return tuple(KeyValues(*(part[rows] for part in layer)) for layer in layers)

    return TransformerState(copied(state.past), copied(state.memory), state.mask[rows])


@st.composite
def walks(draw):
    """Orders of a few steps: rows change places, repeat and leave, and sources get many readers."""
    orders, size = [], B
    for _ in range(STEPS):
        readers = draw(st.sampled_from([0, 1, 2, 5]))
        if readers:  # each row as often, as when a beam widens
            rows = [row for row in range(size) for _ in range(readers)][:20]
        else:
            rows = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=7))
        orders.append(torch.tensor(rows))
        size = len(rows)
    return orders


@families
@pytest.mark.parametrize("graph", [False, True])
@given(orders=walks(), masked=st.booleans(), twice=st.booleans())
def test_lazy_equals_eager(family, graph, orders, masked, twice):
    model = build(family)
    with torch.set_grad_enabled(graph):
        lazy = copied = begin(model, masked)
        for rows in orders:
            lazy, copied = select(lazy, rows, lazy.size), eager(copied, rows)
            if twice:  # two orders are noted before the past grows
                back = torch.arange(len(rows) - 1, -1, -1)
                lazy, copied = select(lazy, back, lazy.size), eager(copied, back)
            assert lazy.size == copied.size == len(rows)
            tokens = torch.arange(len(rows)) * 5 % V
            log_probs, lazy = model.step(lazy, tokens)
            expected, copied = model.step(copied, tokens)
            torch.testing.assert_close(log_probs, expected)
    torch.testing.assert_close(lazy.past, copied.past)


def test_a_beam_shares_its_sources():
    """By hand: 3 sources, 2 readers each; they change places; the second source leaves."""
    state = begin(build(Transformer))
    wide = state.select_rows(torch.tensor([0, 0, 1, 1, 2, 2]))
    assert (wide.size, wide.readers) == (6, 2)
    moved = wide.select_rows(torch.tensor([1, 0, 3, 3, 4, 5]))
    assert moved.memory is wide.memory
    assert moved.order.tolist() == [0, 0, 1, 1, 2, 2]
    left = moved.select_rows(torch.tensor([0, 1, 5, 4]))
    assert (left.size, left.readers, left.mask.tolist()) == (4, 2, REAL[[0, 2]].tolist())
    torch.testing.assert_close(left.memory[1].values, state.memory[1].values[[0, 2]])
    uneven = left.select_rows(torch.tensor([0, 1, 3]))
    assert (uneven.size, uneven.readers) == (3, 1)
    torch.testing.assert_close(uneven.memory[0].keys, state.memory[0].keys[[0, 0, 2]])


@pytest.mark.parametrize("masked", [False, True])
def test_recorded_runs_note_weights_for_each_row(masked):
    model = build(Transformer)
    state = begin(model, masked).select_rows(torch.tensor([0, 0, 1, 1, 2, 2]))
    tokens = torch.arange(6)
    expected, _ = model.step(state, tokens)
    with record(model) as trace:
        log_probs, _ = model.step(state, tokens)
    torch.testing.assert_close(log_probs, expected)
    weights = trace["decoder_layers.1.cross_attn"]["weights"][0]
    assert weights.shape == (6, H, 1, S)
    for row in range(6):  # as when the source is read by this row alone
        with record(model) as trace:
            model.step(eager(begin(model, masked), [row // 2]), tokens[row : row + 1])
        alone = trace["decoder_layers.1.cross_attn"]["weights"][0]
        torch.testing.assert_close(weights[row : row + 1], alone)


def test_a_step_leaves_its_state_as_it_was():
    model = build(Transformer)
    with torch.inference_mode():
        _, state = model.step(begin(model), torch.tensor([4, 5, 6]))
        state = state.select_rows(torch.tensor([2, 2, 0]))
        before = [part.clone() for layer in state.past for part in layer]
        first, _ = model.step(state, torch.tensor([7, 8, 9]))
        model.step(state, torch.tensor([1, 2, 3]))
        again, _ = model.step(state, torch.tensor([7, 8, 9]))
    torch.testing.assert_close([part for layer in state.past for part in layer], before)
    torch.testing.assert_close(again, first)


def test_bad_tokens_for_shared_sources():
    model = build(Transformer)
    state = begin(model).select_rows(torch.tensor([0, 0, 1, 1, 2, 2]))
    with pytest.raises(ValueError, match=r"last_tokens must"):
        model.step(state, torch.tensor([4, 5, 6]))
