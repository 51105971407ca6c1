"""beam: the best few sequences at once, against its definition, greedy and exhaustive search."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import LengthRule, Power, Wu
from gates2heads.decoding.references.by_definition import beam_by_definition
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

RULES = st.sampled_from([None, Power(0.75), Power(1.7), Power(-1), Wu(0.6)])
SEEDS = st.integers(0, 2**31)


def by_definition(tables, source, **options):
    """The same search for one source, as the library defines it."""
    alone = tables.only(source)
    given = {"bos": 0, "max_length": tables.length, **options}
    return beam_by_definition(alone.step, alone.start, **given)


def search(tables, **options):
    given = {"bos": tables.bos, "eos": 1, "max_length": tables.length, "pad": 8}
    return beam(tables.step, tables.start, **{**given, **options})


def same(first, second):
    """Two results agree up to how far they are padded."""
    assert [sequences(first, b) for b in range(len(first.length))] == [
        sequences(second, b) for b in range(len(second.length))
    ]
    for name in ("length", "log_prob", "score", "finished"):
        torch.testing.assert_close(getattr(first, name), getattr(second, name), rtol=0, atol=1e-13)


def test_the_two_tables_a_beam_of_two_finds_the_better_one():
    whole = {"bos": BOS, "eos": None, "max_length": 4}
    narrow = beam(two_tables, START, **whole, width=1)
    assert sequences(narrow, 0) == [[A, B, C, EOS]]
    assert narrow.log_prob.exp().item() == pytest.approx(0.048)
    wide = beam(two_tables, START, **whole, width=2, n_best=2)
    assert sequences(wide, 0)[0] == [A, C, B, EOS]
    assert wide.log_prob.exp()[0].tolist() == pytest.approx([0.054, 0.048])


@pytest.mark.parametrize("early_stopping", [True, False])
@given(
    sources=st.integers(1, 3),
    size=st.integers(2, 5),
    length=st.integers(1, 4),
    seed=SEEDS,
    width=st.integers(1, 7),
    data=st.data(),
    rule=RULES,
    refill=st.booleans(),
    ends=st.booleans(),
    zeros=st.sampled_from([0.0, 0.4]),
)
def test_equals_the_definition(
    early_stopping, sources, size, length, seed, width, data, rule, refill, ends, zeros
):
    tables, eos = RandomTables(sources, size, length, seed, zeros=zeros), 1 if ends else None
    n_best = data.draw(st.integers(1, width))
    options = {"width": width, "n_best": n_best, "refill": refill}
    found = search(tables, **options, eos=eos, length_rule=rule, early_stopping=early_stopping)
    for source in range(sources):
        best = by_definition(tables, source, eos=eos, length_rule=rule, **options)
        assert sequences(found, source) == [tokens for _, tokens in best]
        held = found.length[source] > 0
        assert found.score[source][held].tolist() == pytest.approx([score for score, _ in best])
        assert found.score[source][~held].tolist() == [-math.inf] * (n_best - len(best))


@pytest.mark.slow
@given(
    sources=st.integers(1, 3),
    size=st.integers(2, 4),
    length=st.integers(1, 4),
    seed=SEEDS,
    rule=RULES,
    refill=st.booleans(),
    zeros=st.sampled_from([0.0, 0.4]),
)
def test_as_wide_as_the_space_equals_exhaustive(sources, size, length, seed, rule, refill, zeros):
    tables = RandomTables(sources, size, length, seed, zeros=zeros)
    given = {"bos": tables.bos, "eos": 1, "max_length": length, "n_best": 5, "length_rule": rule}
    every = exhaustive(tables.step, tables.start, **given, pad=8)
    wide = beam(tables.step, tables.start, **given, pad=8, width=5 + size**length, refill=refill)
    same(wide, every)


@given(sources=st.integers(1, 5), size=st.integers(2, 5), seed=SEEDS, rule=RULES)
def test_a_beam_of_one_is_greedy(sources, size, seed, rule):
    tables = RandomTables(sources, size, 4, seed)
    given = {"bos": tables.bos, "eos": 1, "max_length": 4}
    narrow = beam(tables.step, tables.start, **given, width=1, length_rule=rule).best()
    for ours, wanted in zip(narrow, greedy(tables.step, tables.start, **given), strict=True):
        torch.testing.assert_close(ours, wanted)


@given(sources=st.integers(2, 5), seed=SEEDS, rule=RULES, refill=st.booleans())
def test_a_batch_equals_its_sources_one_by_one(sources, seed, rule, refill):
    tables = RandomTables(sources, 5, 5, seed, sharpness=2.0)
    options = {"width": 3, "n_best": 2, "length_rule": rule, "refill": refill}
    together = search(tables, **options)
    for source in range(sources):
        alone = search(tables.only(source), **options)
        assert sequences(together, source) == sequences(alone, 0)
        torch.testing.assert_close(together.score[source], alone.score[0], rtol=0, atol=0)
        assert together.scored[source] == alone.scored[0]


def test_early_stopping_changes_nothing_but_the_time():
    stopped = patient = 0
    for seed in range(60):
        rule = [None, Power(0.75), Power(-0.5), Wu(1.0)][seed % 4]
        tables = RandomTables(3, 5, 6, seed, sharpness=2.0)
        options = {"width": 4, "n_best": 1 + seed % 3, "length_rule": rule, "refill": seed % 2 == 0}
        first = search(tables, **options)
        stopped += sum(tables.calls)
        tables.calls.clear()
        second = search(tables, **options, early_stopping=False)
        patient += sum(tables.calls)
        for ours, wanted in zip(first[:-1], second[:-1], strict=True):
            width = min(ours.shape[-1], wanted.shape[-1]) if ours.dim() == 3 else None
            assert torch.equal(ours[..., :width], wanted[..., :width])
    assert stopped < 0.9 * patient


class Steep(LengthRule):
    """Length pays more than any other rule here lets it."""

    def divisor(self, length):
        return self.alpha**length


def test_early_stopping_waits_where_length_pays_enough():
    # <eos> at once: ln 0.6. Instead 2, then three sure tokens: ln 0.4, divided by 2^4 / 2^1.
    probs = {0: {1: 0.6, 2: 0.4}, 2: {3: 1.0}, 3: {4: 1.0}, 4: {1: 1.0}}
    table = torch.zeros(5, 5)
    for last, row in probs.items():
        for token, probability in row.items():
            table[last, token] = probability

    def step(state, last_tokens):
        return table[last_tokens].log(), state

    given = {"bos": 0, "eos": 1, "max_length": 4, "width": 2}
    assert sequences(beam(step, 0, **given), 0) == [[1]]
    assert sequences(beam(step, 0, **given, length_rule=Steep(2.0)), 0) == [[2, 3, 4, 1]]


@pytest.mark.parametrize(("size", "width", "length"), [(7, 5, 3), (11, 3, 4), (5, 5, 2)])
def test_counts_k_n_t(size, width, length):
    tables = RandomTables(2, size, length, seed=3)
    found = search(tables, eos=None, width=width)
    # At the first step there is one open sequence, then k.
    assert found.scored.tolist() == [size + (length - 1) * width * size] * 2
    assert found.scored[0] <= width * size * length
    assert tables.calls == [2] + [2 * width] * (length - 1)


def test_finished_sources_leave_the_batch():
    rows = []

    def step(state, last_tokens):
        wait = state
        rows.append(wait.tolist())
        log_probs = torch.tensor([[-9.0, -8.0, -7.0]]).repeat(len(last_tokens), 1)
        log_probs[wait == 0, 1] = -0.01
        log_probs[wait > 0, 2] = -0.01
        return log_probs, wait - 1

    found = beam(step, torch.tensor([2, 0, 1]), bos=torch.zeros(3).long(), eos=1, max_length=9)
    assert [sorted(set(waits)) for waits in rows] == [[0, 1, 2], [0, 1], [0]]
    assert [sequences(found, b)[0] for b in range(3)] == [[2, 2, 1], [1], [2, 1]]


def test_refill_by_hand():
    # Step 1: <eos> 0.5, 2 0.3, 3 0.2. Width 2 without refill: <eos> and 2; 3 is lost.
    # With it, 2 and 3 go on. Then 3 <eos> has 0.2, 2 <eos> 0.3 · 0.4 = 0.12.
    table = torch.zeros(4, 4)
    table[0] = torch.tensor([0.0, 0.5, 0.3, 0.2])
    table[2] = torch.tensor([0.0, 0.4, 0.35, 0.25])
    table[3, 1] = 1.0

    def step(state, last_tokens):
        return table[last_tokens].log(), state

    given = {"bos": 0, "eos": 1, "max_length": 2, "width": 2, "n_best": 2}
    assert sequences(beam(step, 0, **given), 0) == [[1], [2, 1]]
    assert sequences(beam(step, 0, **given, refill=True), 0) == [[1], [3, 1]]


def test_the_tree_shows_what_was_kept_ended_and_pruned():
    tree = Tree(branches=4)
    given = {"bos": BOS, "eos": EOS, "max_length": 4, "width": 2, "length_rule": Power(0.75)}
    beam(two_tables, START, **given, trace=tree, early_stopping=False)
    first = {node.token: node for node in tree[0] if node.length == 1}
    assert {token: node.fate for token, node in first.items()} == {
        A: "kept", B: "kept", C: "pruned", EOS: "pruned"
    }  # fmt: skip
    assert first[A].log_prob == pytest.approx(math.log(0.5))
    second = [(tree.tokens(0, n), node) for n, node in enumerate(tree[0]) if node.length == 2]
    assert [tokens for tokens, node in second if node.fate == "kept"] == [[A, B], [A, C]]
    assert len(second) == 8
    best = tree.complete(0)[0]
    assert tree.tokens(0, best) == [A, C, B, EOS]
    assert tree[0][best].fate == "ended"
    assert tree[0][best].score == pytest.approx(math.log(0.054) / 4**0.75)


@given(seed=SEEDS, refill=st.booleans(), width=st.integers(1, 4))
def test_the_best_of_the_tree_is_the_best_of_the_search(seed, refill, width):
    tables, tree = RandomTables(3, 5, 4, seed, zeros=0.3), Tree(branches=2)
    options = {"width": width, "refill": refill, "length_rule": Power(0.75)}
    found = search(tables, **options, trace=tree)
    same(found, search(tables, **options))
    for source in range(3):
        if not sequences(found, source):
            continue
        best = tree.complete(source)[0]
        assert tree.tokens(source, best) == sequences(found, source)[0]
        assert tree[source][best].score == pytest.approx(found.score[source, 0].item())
        for node in tree[source][1:]:
            assert tree[source][node.parent].fate == "kept"


def test_single_precision_and_half_add_up_in_single():
    probs = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.bfloat16).log()

    def step(state, last_tokens):
        return probs.expand(len(last_tokens), 3), state

    assert beam(step, 0, bos=0, eos=None, max_length=3).log_prob.dtype == torch.float32


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_best": 6}, ValueError, "n_best must"),
        ({"state": torch.zeros(5)}, ValueError, "state must"),
        ({"state": object()}, TypeError, "state must"),
    ],
)
def test_nonsense_gets_one_clear_sentence(change, error, message):
    def step(state, last_tokens):
        return torch.full((len(last_tokens), 3), -1.1), state

    good = {"step": step, "state": 0, "bos": 0, "eos": 1, "max_length": 2}
    with pytest.raises(error, match=message):
        beam(**{**good, **change})
