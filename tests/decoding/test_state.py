"""The rows of a state: copied, reordered, dropped; what the step hands on is not copied."""

import itertools
from typing import NamedTuple

import pytest
import torch

from gates2heads.decoding.beam import beam
from gates2heads.decoding.state import Carrier, select, tensors


class Pair(NamedTuple):
    left: torch.Tensor
    right: object


def nest():
    rows = torch.arange(3)
    return Pair(rows, {"a": (rows + 10, [rows[:, None] + 20, "word"]), "b": None, "c": 7})


def test_select_by_hand_in_every_kind_of_nest():
    chosen = select(nest(), torch.tensor([2, 0, 0, 1]), 3)
    assert isinstance(chosen, Pair)
    assert chosen.left.tolist() == [2, 0, 0, 1]
    assert isinstance(chosen.right["a"], tuple)
    assert chosen.right["a"][0].tolist() == [12, 10, 10, 11]
    assert chosen.right["a"][1][0].tolist() == [[22], [20], [20], [21]]
    assert (chosen.right["a"][1][1], chosen.right["b"], chosen.right["c"]) == ("word", None, 7)


def test_tensors_come_in_the_order_of_the_nest():
    assert [tensor.flatten().tolist()[0] for tensor in tensors(nest())] == [0, 10, 20]


def test_a_tensor_without_axes_is_the_same_for_all_rows():
    number = torch.tensor(5)
    assert select((number, torch.arange(3)), torch.tensor([1]), 3)[0] is number


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (torch.zeros(2, 3), ValueError, r"batch first, 3 rows here, got one of shape \(2, 3\)"),
        ((torch.zeros(3), {4}), TypeError, "state must"),
    ],
)
def test_what_has_no_rows_is_refused(state, error, message):
    with pytest.raises(error, match=message):
        select(state, torch.tensor([0]), 3)


def test_what_is_handed_on_stays_and_what_was_made_anew_moves():
    memory, past = torch.tensor([5, 6]), torch.tensor([0, 0])
    carrier = Carrier((memory, past))
    carrier.select(torch.tensor([0, 0, 1, 1]), 2, within=False)
    memory = carrier.state[0]
    assert memory.tolist() == [5, 5, 6, 6]
    carrier.moved_on((memory, torch.tensor([1, 2, 3, 4])))
    carrier.select(torch.tensor([1, 0, 3, 3]), 4, within=True)
    assert carrier.state[0] is memory
    assert carrier.state[1].tolist() == [2, 1, 4, 4]
    carrier.select(torch.tensor([2, 3]), 4, within=False)
    assert [part.tolist() for part in carrier.state] == [[6, 6], [4, 4]]
    kept = carrier.state[0]
    carrier.moved_on((kept, torch.tensor([7, 8])))
    carrier.select(torch.tensor([1, 0]), 2, within=True)
    assert carrier.state[0] is kept


def test_what_was_once_made_anew_moves_ever_after():
    carrier = Carrier((torch.tensor([1, 1]),))
    changed = torch.tensor([1, 2])
    carrier.moved_on((changed,))
    carrier.moved_on((changed,))  # handed on now, but its rows differ
    carrier.select(torch.tensor([1, 0]), 2, within=True)
    assert carrier.state[0].tolist() == [2, 1]


def test_what_differs_after_a_copy_still_moves():
    carrier = Carrier((torch.tensor([5, 6]), torch.tensor([0, 0])))
    carrier.moved_on((carrier.state[0], torch.tensor([1, 2])))
    carrier.select(torch.tensor([0, 0, 1, 1]), 2, within=False)
    carrier.moved_on(carrier.state)
    carrier.select(torch.tensor([1, 0, 2, 2]), 4, within=True)
    assert [part.tolist() for part in carrier.state] == [[5, 5, 6, 6], [1, 1, 2, 2]]
    carrier = Carrier((torch.tensor([5, 6]), torch.tensor([0, 0])))
    carrier.moved_on((carrier.state[0], torch.tensor([1, 2])))
    carrier.select(torch.tensor([0, 1]), 2, within=False)
    carrier.moved_on(carrier.state)
    carrier.select(torch.tensor([1, 0]), 2, within=True)
    assert [part.tolist() for part in carrier.state] == [[5, 6], [2, 1]]


class Lazy(NamedTuple):
    """Notes the order, and copies when it is read."""

    kept: torch.Tensor
    rows: torch.Tensor

    def select_rows(self, rows):
        return self._replace(rows=self.rows[rows])


def test_a_part_may_reorder_itself():
    lazy = Lazy(torch.tensor([5, 6, 7]), torch.arange(3))
    carrier = Carrier((lazy, torch.tensor([0, 1, 2])))
    for rows, within in [([2, 0, 0], True), ([0, 2], False)]:
        carrier.moved_on(carrier.state)
        size = len(carrier.state[1])
        carrier.select(torch.tensor(rows), size, within=within)
    assert carrier.state[0].kept is lazy.kept
    assert carrier.state[0].rows.tolist() == [2, 0]
    assert carrier.state[1].tolist() == [0, 2]  # handed on, so it kept its place the first time


def test_a_beam_copies_the_memory_only_to_widen_it_and_when_a_source_leaves():
    seen = []

    def step(state, last_tokens):
        memory, wait, past = state
        seen.append(memory)
        log_probs = torch.full((len(last_tokens), 5), -3.0) - torch.arange(5) / 7 + past[:, None]
        log_probs[:, 1] = torch.where(wait == 0, -1e-3, -50.0)
        return log_probs.clamp(max=0), (memory, wait - 1, past - last_tokens / 11)

    memory = torch.arange(2)
    state = memory, torch.tensor([3, 6]), torch.zeros(2)
    beam(step, state, bos=torch.zeros(2).long(), eos=1, max_length=7, width=3)
    assert seen[0] is memory
    assert [tensor.tolist() for tensor in seen[1:5]] == [[0, 0, 0, 1, 1, 1]] * 3 + [[1, 1, 1]]
    assert [later is earlier for earlier, later in itertools.pairwise(seen[1:])] == [
        True, True, False, True, True
    ]  # fmt: skip


def test_the_memory_follows_its_source_when_the_number_of_rows_stays():
    seen = []

    def step(state, last_tokens):
        seen.append(state.tolist())
        log_probs = torch.tensor([[-2.0, -50.0, -2.1]]).repeat(len(last_tokens), 1)
        log_probs[state == 0, 1] = -1e-3
        return log_probs, state

    # Two sources with one row each; one leaves at once, the other now has two rows.
    beam(step, torch.arange(2), bos=torch.zeros(2).long(), eos=1, max_length=2, width=2)
    assert seen == [[0, 1], [1, 1]]
