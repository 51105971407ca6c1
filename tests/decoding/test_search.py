"""greedy: the likeliest token at every step, for any step function."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.search import greedy

EOS, BOS, PAD = 2, 1, 0
V = 7


def table(rows, *, size=V):
    """A step function from a table: after token a, what may come next, as probabilities."""
    probs = torch.full((size, size), 0.0)
    for last, row in rows.items():
        for token, probability in row.items():
            probs[last, token] = probability

    def step(state, last_tokens):
        return probs[last_tokens].log(), state + 1

    return step


def test_by_hand_where_the_best_step_does_not_begin_the_best_sequence():
    # After <bos>, 3 (0.6) beats 4 (0.4). After 3, <eos> has 0.3 at best; after 4 it has 1.
    # Greedy writes 3 5 <eos>: 0.6 · 0.4 · 1 = 0.24, though 4 <eos> has 0.4.
    step = table({BOS: {3: 0.6, 4: 0.4}, 3: {EOS: 0.3, 5: 0.4, 6: 0.3}, 4: {EOS: 1.0}, 5: {EOS: 1}})
    output = greedy(step, 0, bos=BOS, eos=EOS, max_length=11)
    assert output.tokens.tolist() == [[3, 5, EOS]]
    assert output.log_prob.exp().item() == pytest.approx(0.24)
    assert output.finished.tolist() == [True]


def test_by_hand_a_batch_whose_rows_end_at_different_steps():
    rows = {3: {4: 0.5, 5: 0.3}, 4: {EOS: 0.8}, 5: {5: 0.9, EOS: 0.1}, EOS: {6: 1.0}, PAD: {6: 1.0}}
    step = table(rows)
    output = greedy(step, 0, bos=torch.tensor([3, 4, 5]), eos=EOS, max_length=3)
    assert output.tokens.tolist() == [[4, EOS, PAD], [EOS, PAD, PAD], [5, 5, 5]]
    assert output.finished.tolist() == [True, True, False]
    assert output.log_prob.exp().tolist() == pytest.approx([0.5 * 0.8, 0.8, 0.9**3])


def test_stops_when_all_have_ended_and_passes_the_state_on():
    states = []

    def step(state, last_tokens):
        states.append(state)
        scores = torch.zeros(len(last_tokens), V)
        scores[:, EOS if state == 4 else 5] = 1.0
        return scores.log_softmax(-1), state + 1

    output = greedy(step, 0, bos=torch.tensor([1, 1, 1]), eos=EOS, max_length=100)
    assert states == [0, 1, 2, 3, 4]
    assert output.tokens.tolist() == [[5, 5, 5, 5, EOS]] * 3


def random_tables(rows, length, seed):
    """Log-probabilities that depend on the row and on the step."""
    torch.manual_seed(seed)
    return torch.randn(length, rows, V).double().log_softmax(-1)


@given(rows=st.integers(1, 5), length=st.integers(1, 7), seed=st.integers(0, 2**31))
def test_writes_the_argmax_of_each_step_until_the_end(rows, length, seed):
    tables = random_tables(rows, length, seed)
    output = greedy(
        lambda step, last: (tables[step], step + 1),
        0,
        bos=torch.full((rows,), BOS),
        eos=EOS,
        max_length=length,
    )
    for row in range(rows):
        best = tables[:, row].argmax(-1).tolist()
        end = best.index(EOS) + 1 if EOS in best else length
        width = output.tokens.shape[1]
        assert output.tokens[row].tolist() == best[:end] + [PAD] * (width - end)
        assert output.finished[row] == (EOS in best)
        expected = sum(tables[step, row].max().item() for step in range(end))
        assert output.log_prob[row].item() == pytest.approx(expected)


def test_each_step_reads_what_the_last_one_wrote():
    read = []

    def step(state, last_tokens):
        read.append(last_tokens.tolist())
        return tables[state], state + 1

    tables = random_tables(3, 5, seed=7)
    tables[:, :, EOS] = -math.inf
    output = greedy(step, 0, bos=torch.tensor([6, 5, 4]), eos=EOS, max_length=5)
    assert read[0] == [6, 5, 4]
    assert [list(column) for column in output.tokens.T.tolist()][:-1] == read[1:]


def test_builds_no_graph():
    weight = torch.zeros(1, V, requires_grad=True)
    output = greedy(lambda s, t: (weight.log_softmax(-1), s), 0, bos=BOS, eos=EOS, max_length=3)
    assert not output.log_prob.requires_grad


@pytest.mark.parametrize("bos", [BOS, torch.tensor(BOS), torch.tensor([BOS], dtype=torch.int)])
def test_one_number_begins_a_batch_of_one(bos):
    step = table({BOS: {EOS: 1.0}})
    assert greedy(step, 0, bos=bos, eos=EOS, max_length=3).tokens.tolist() == [[EOS]]


def test_rounding_above_zero_is_taken_for_zero():
    def step(state, last_tokens):
        return torch.tensor([[-9.0, -8.0, 1e-5]]), state

    assert greedy(step, 0, bos=BOS, eos=EOS, max_length=3).log_prob.tolist() == [0.0]


def test_without_eos_only_max_length_ends_a_sequence():
    step = table({BOS: {EOS: 1.0}, EOS: {5: 1.0}, 5: {EOS: 1.0}})
    output = greedy(step, 0, bos=BOS, eos=None, max_length=3)
    assert output.tokens.tolist() == [[EOS, 5, EOS]]
    assert output.finished.tolist() == [False]


def test_refuses_what_it_cannot_search():
    def answer(log_probs):
        return lambda state, last_tokens: (log_probs, state)

    good = {"step": answer(torch.zeros(1, V)), "state": 0, "bos": 1, "eos": EOS, "max_length": 3}
    spoiled = torch.zeros(1, V)
    spoiled[0, 3] = math.nan
    for change, error, message in [
        ({"bos": "<bos>"}, TypeError, "bos must"),
        ({"bos": -1}, ValueError, "bos must"),
        ({"eos": 7}, ValueError, "eos must"),
        ({"step": lambda s, t: 3}, TypeError, r"step must"),
        ({"step": answer(torch.zeros(1, V).long())}, TypeError, "of log_probs, got a torch.int64"),
        ({"step": answer(torch.ones(1, V))}, ValueError, "log_probs, which are at most 0, got 1"),
        ({"bos": torch.tensor([])}, ValueError, "bos must"),
        ({"bos": torch.zeros(0).long()}, ValueError, "bos must"),
        ({"bos": torch.ones(2, 3).long()}, ValueError, r"got torch.int64 of shape \(2, 3\)"),
        ({"step": answer(torch.zeros(V))}, ValueError, r"log_probs of shape \(1, V\), got \(7,\)"),
        ({"step": answer(torch.zeros(3, V))}, ValueError, r"shape \(1, V\), got \(3, 7\)"),
        ({"step": answer(spoiled)}, ValueError, "step returned NaN among its log_probs"),
        (
            {"step": answer([0.0])},
            TypeError,
            r"step must",
        ),
    ]:
        with pytest.raises(error, match=message):
            greedy(**{**good, **change})
