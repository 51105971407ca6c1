"""exhaustive: every sequence is scored, and the best is found."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.lengths import Power, Wu
from gates2heads.decoding.references.exhaustive import exhaustive
from gates2heads.decoding.search import greedy
from gates2heads.decoding.trace import Tree
from tests.decoding.step_functions import (
    BOS,
    EOS,
    START,
    A,
    B,
    C,
    RandomTables,
    sequences,
    two_tables,
)


def test_the_two_tables_greedy_is_not_optimal():
    # Greedy: 0.5 · 0.4 · 0.4 · 0.6 = 0.048. With C at step 2: 0.5 · 0.3 · 0.6 · 0.6 = 0.054.
    whole = {"bos": BOS, "eos": None, "max_length": 4}
    first_best = greedy(two_tables, START, **whole)
    assert first_best.tokens.tolist() == [[A, B, C, EOS]]
    assert first_best.log_prob.exp().item() == pytest.approx(0.048)
    found = exhaustive(two_tables, START, **whole)
    assert found.tokens.tolist() == [[[A, C, B, EOS]]]
    assert found.log_prob.exp().item() == pytest.approx(0.054)
    assert found.scored.tolist() == [4**4]


def test_the_two_tables_where_eos_ends_a_sequence_the_length_rule_decides():
    # <eos> at once has 0.1, and so has A <eos>: 0.5 · 0.2. Both beat 0.054.
    # Divided by L^0.75: ln 0.1 / 1 = -2.30, ln 0.1 / 1.68 = -1.37, ln 0.054 / 2.83 = -1.03.
    given = {"bos": BOS, "eos": EOS, "max_length": 4}
    short = exhaustive(two_tables, START, **given, n_best=2)
    assert short.log_prob.exp()[0].tolist() == pytest.approx([0.1, 0.1])
    assert sorted(sequences(short, 0)) == [[A, EOS], [EOS]]
    fair = exhaustive(two_tables, START, **given, length_rule=Power(0.75))
    assert sequences(fair, 0) == [[A, C, B, EOS]]
    assert fair.score.item() == pytest.approx(math.log(0.054) / 4**0.75)


@given(
    sources=st.integers(1, 3),
    size=st.integers(2, 4),
    length=st.integers(1, 4),
    seed=st.integers(0, 2**31),
    rule=st.sampled_from([None, Power(0.75), Power(1.7), Power(-1), Wu(0.6)]),
    ends=st.booleans(),
    zeros=st.sampled_from([0.0, 0.4]),
)
def test_equals_the_definition(sources, size, length, seed, rule, ends, zeros):
    tables, eos = RandomTables(sources, size, length, seed, zeros=zeros), 1 if ends else None
    wanted = {"bos": tables.bos, "eos": eos, "max_length": length, "n_best": 7}
    found = exhaustive(tables.step, tables.start, **wanted, length_rule=rule, pad=9)
    for source in range(sources):
        every = tables.all_sequences(source, eos)
        assert found.scored[source] == len(every)
        scores = {
            tuple(tokens): total / (rule.divisor(len(tokens)) if rule else 1)
            for tokens, total in every
            if total > -math.inf
        }
        best = sorted(scores.values(), reverse=True)[:7]
        held = found.length[source] > 0
        assert found.score[source][held].tolist() == pytest.approx(best)
        for tokens, score in zip(sequences(found, source), best, strict=True):
            assert scores[tuple(tokens)] == pytest.approx(score)
        assert found.finished[source].tolist() == [
            bool(tokens) and tokens[-1] == eos
            for tokens in sequences(found, source) + [[]] * (7 - len(best))
        ]


@pytest.mark.parametrize(("size", "length"), [(2, 7), (3, 5), (5, 3), (7, 1)])
def test_counts_n_to_the_t(size, length):
    tables = RandomTables(2, size, length, seed=3)
    given = {"bos": tables.bos, "max_length": length}
    found = exhaustive(tables.step, tables.start, **given, eos=None)
    assert found.scored.tolist() == [size**length] * 2
    # With <eos>, the prefixes without it multiply by n - 1, and each ends once.
    found = exhaustive(tables.step, tables.start, **given, eos=0)
    ended = sum((size - 1) ** (step - 1) for step in range(1, length))
    assert found.scored.tolist() == [ended + (size - 1) ** (length - 1) * size] * 2


def test_the_tree_has_every_prefix_and_nothing_pruned():
    tables, tree = RandomTables(2, 3, 4, seed=5), Tree(branches=1)
    exhaustive(tables.step, tables.start, bos=tables.bos, eos=2, max_length=4, trace=tree)
    # Prefixes of 1 to 4 tokens out of 3, of which 2 go on; and the root.
    assert [len(tree[source]) for source in range(2)] == [1 + 3 * (1 + 2 + 4 + 8)] * 2
    assert {node.fate for node in tree[0]} == {"kept", "ended", "cut"}
    best = tree.complete(1)[0]
    found = exhaustive(tables.step, tables.start, bos=tables.bos, eos=2, max_length=4)
    assert tree.tokens(1, best) == sequences(found, 1)[0]


def test_what_is_impossible_is_no_hypothesis():
    probs = torch.tensor([[0.0, 1.0, 0.0]]).log()
    found = exhaustive(
        lambda s, t: (probs.expand(len(t), 3), s), 0, bos=0, eos=1, max_length=3, n_best=2, pad=2
    )
    assert found.tokens.tolist() == [[[1], [2]]]
    assert found.length.tolist() == [[1, 0]]
    assert found.score.tolist() == [[0.0, -math.inf]]
    assert found.finished.tolist() == [[True, False]]


def test_a_vocabulary_of_eos_alone_has_one_sequence():
    found = exhaustive(lambda s, t: (torch.zeros(1, 1), s), 0, bos=0, eos=0, max_length=5)
    assert found.tokens.tolist() == [[[0]]]
    assert found.scored.tolist() == [1]


def test_ten_to_the_fortieth_is_refused_in_one_sentence():
    def step(state, last_tokens):
        return torch.full((len(last_tokens), 10_000), -9.2), state

    with pytest.raises(
        ValueError,
        match=r"limit must",
    ):
        exhaustive(step, 0, bos=0, eos=None, max_length=10)
    with pytest.raises(ValueError, match=r"about 10\^4e\+09"):
        exhaustive(step, 0, bos=0, eos=None, max_length=10**9)


def test_the_limit_is_the_number_of_sequences_of_all_sources():
    tables = RandomTables(2, 3, 3, seed=1)
    given = {"bos": tables.bos, "eos": None, "max_length": 3}
    exhaustive(tables.step, tables.start, **given, limit=2 * 3**3)
    with pytest.raises(ValueError, match="limit must"):
        exhaustive(tables.step, tables.start, **given, limit=2 * 3**3 - 1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"eos": 3}, ValueError, "eos must"),
        ({"state": torch.zeros(5)}, ValueError, "state must"),
    ],
)
def test_nonsense_gets_one_clear_sentence(change, error, message):
    def step(state, last_tokens):
        return torch.full((len(last_tokens), 3), -1.1), state

    good = {"step": step, "state": 0, "bos": 0, "eos": 1, "max_length": 2}
    with pytest.raises(error, match=message):
        exhaustive(**{**good, **change})
