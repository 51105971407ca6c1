"""beam_by_definition: by hand, and at its two ends: greedy and exhaustive search."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.lengths import Power, Wu
from gates2heads.decoding.references.by_definition import beam_by_definition
from gates2heads.decoding.search import greedy
from tests.decoding.step_functions import BOS, EOS, START, A, B, C, RandomTables, two_tables

RULES = st.sampled_from([None, Power(0.75), Power(1.7), Power(-1), Wu(0.6)])
SEEDS = st.integers(0, 2**31)


def search(tables, **options):
    given = {"bos": 0, "eos": 1, "max_length": tables.length}
    return beam_by_definition(tables.step, tables.start, **{**given, **options})


def test_the_two_tables_by_hand():
    # 0.5 · 0.4 · 0.4 · 0.6 = 0.048 by the best at each step; 0.5 · 0.3 · 0.6 · 0.6 = 0.054.
    whole = {"bos": BOS, "eos": None, "max_length": 4}
    ((score, tokens),) = beam_by_definition(two_tables, START, **whole, width=1)
    assert tokens == [A, B, C, EOS]
    assert math.exp(score) == pytest.approx(0.048)
    found = beam_by_definition(two_tables, START, **whole, width=2, n_best=2)
    assert [tokens for _, tokens in found] == [[A, C, B, EOS], [A, B, C, EOS]]
    assert [math.exp(score) for score, _ in found] == pytest.approx([0.054, 0.048])


def test_what_ends_keeps_its_place_or_gives_it_up():
    # Step 1: <eos> 0.5, 2 0.3, 3 0.2. Width 2: <eos> and 2, and 3 is lost; with `refill` 2 and 3
    # go on. Then 3 <eos> has 0.2, 2 <eos> 0.3 · 0.4 = 0.12.
    table = torch.zeros(4, 4)
    table[0] = torch.tensor([0.0, 0.5, 0.3, 0.2])
    table[2] = torch.tensor([0.0, 0.4, 0.35, 0.25])
    table[3, 1] = 1.0

    def step(state, last_tokens):
        return table[last_tokens].log(), state

    given = {"bos": 0, "eos": 1, "max_length": 2, "width": 2, "n_best": 2}
    kept = beam_by_definition(step, None, **given)
    assert [tokens for _, tokens in kept] == [[1], [2, 1]]
    assert [math.exp(score) for score, _ in kept] == pytest.approx([0.5, 0.12])
    refilled = beam_by_definition(step, None, **given, refill=True)
    assert [tokens for _, tokens in refilled] == [[1], [3, 1]]
    halved = beam_by_definition(step, None, **given, length_rule=Power(1.0))
    assert [score for score, _ in halved] == pytest.approx([math.log(0.5), math.log(0.12) / 2])


@given(size=st.integers(2, 5), length=st.integers(1, 4), seed=SEEDS, rule=RULES)
def test_a_width_of_one_is_greedy(size, length, seed, rule):
    tables = RandomTables(1, size, length, seed)
    ((_, tokens),) = search(tables, width=1, length_rule=rule)
    given = {"bos": tables.bos, "eos": 1, "max_length": length}
    assert tokens == greedy(tables.step, tables.start, **given).tokens[0].tolist()


@given(
    size=st.integers(2, 4),
    length=st.integers(1, 3),
    seed=SEEDS,
    refill=st.booleans(),
    ends=st.booleans(),
    zeros=st.sampled_from([0.0, 0.4]),
)
def test_as_wide_as_the_space_it_finds_every_sequence(size, length, seed, refill, ends, zeros):
    tables, eos = RandomTables(1, size, length, seed, zeros=zeros), 1 if ends else None
    width = 1 + size**length
    found = search(tables, eos=eos, width=width, n_best=width, refill=refill)
    every = [pair for pair in tables.all_sequences(0, eos) if pair[1] > -math.inf]
    assert sorted(tokens for _, tokens in found) == sorted(tokens for tokens, _ in every)
    wanted = sorted((total for _, total in every), reverse=True)
    assert [score for score, _ in found] == pytest.approx(wanted)


def test_no_graph_is_kept():
    weights = torch.zeros(1, 3, requires_grad=True)
    modes = []

    def step(state, last_tokens):
        modes.append(torch.is_grad_enabled())
        return weights.log_softmax(-1), state

    beam_by_definition(step, None, bos=0, eos=None, max_length=2, width=2)
    assert modes == [False] * 3


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_best": 6}, ValueError, "n_best must"),
        ({"state": torch.zeros(5)}, ValueError, "state must"),
    ],
)
def test_nonsense_gets_one_clear_sentence(change, error, message):
    def step(state, last_tokens):
        return torch.full((len(last_tokens), 3), -1.1), state

    good = {"step": step, "state": 0, "bos": 0, "eos": 1, "max_length": 2}
    with pytest.raises(error, match=message):
        beam_by_definition(**{**good, **change})
