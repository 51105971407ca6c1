"""A forced prefix: scores stay the model's own, and below it each search goes on as it would."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power, Wu
from gates2heads.decoding.prefix import check_known, forced_tokens, only
from gates2heads.decoding.references.by_definition import beam_by_definition
from gates2heads.decoding.sampling import sample
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

SEEDS = st.integers(0, 2**31)
RULES = st.sampled_from([None, Power(0.75), Power(-1), Wu(0.6)])
TABLES = {"bos": BOS, "eos": EOS, "max_length": 4}


def test_the_two_tables_forced_to_c_greedy_search_finds_the_better_one():
    free = greedy(two_tables, START, **TABLES)
    forced = greedy(two_tables, START, **TABLES, prefix=[A, C])
    assert free.tokens.tolist() == [[A, B, C, EOS]]
    assert forced.tokens.tolist() == [[A, C, B, EOS]]
    assert free.log_prob.exp().item() == pytest.approx(0.5 * 0.4 * 0.4 * 0.6)
    assert forced.log_prob.exp().item() == pytest.approx(0.5 * 0.3 * 0.6 * 0.6)


def test_only_the_forced_token_keeps_its_log_probability():
    log_probs = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0]]).log()
    kept = only(log_probs, torch.tensor([1, 2])).exp()
    torch.testing.assert_close(kept, torch.tensor([[0.0, 0.3, 0.0], [0.0, 0.0, 0.0]]))


@given(sources=st.integers(1, 3), size=st.integers(2, 5), seed=SEEDS, share=st.floats(0, 1))
def test_to_force_what_would_have_been_written_changes_nothing(sources, size, seed, share):
    tables = RandomTables(sources, size, 4, seed)
    options = {"bos": tables.bos, "eos": None, "max_length": 4}
    searches = {
        "greedy": lambda prefix: greedy(tables.step, tables.start, **options, prefix=prefix),
        "narrow beam": lambda prefix: beam(
            tables.step, tables.start, **options, width=1, prefix=prefix
        ).best(),
        "sample": lambda prefix: sample(
            tables.step, tables.start, **options, prefix=prefix,
            generator=torch.Generator().manual_seed(seed),
        ),
    }  # fmt: skip
    for search in searches.values():
        free = search(None)
        forced = search(free.tokens[:, : round(share * 4)])
        for ours, wanted in zip(forced, free, strict=True):
            assert torch.equal(ours, wanted)


@given(size=st.integers(2, 5), seed=SEEDS, width=st.integers(1, 5), rule=RULES, data=st.data())
def test_a_beam_forced_to_each_of_its_ends_scores_it_as_before(size, seed, width, rule, data):
    tables = RandomTables(1, size, 4, seed)
    given_ = {"bos": 0, "eos": 1, "max_length": 4, "width": width, "length_rule": rule}
    free = beam(tables.step, tables.start, **given_, n_best=width)
    place = data.draw(st.integers(0, len(sequences(free, 0)) - 1))
    wanted = sequences(free, 0)[place]
    forced = beam(tables.step, tables.start, **given_, prefix=wanted)
    assert sequences(forced, 0) == [wanted]
    assert forced.score[0, 0].item() == pytest.approx(free.score[0, place].item(), abs=1e-12)


def below(tables, prefix):
    """The tables after a prefix, as tables of their own, and the log-probability of the prefix."""
    twin, place, total = RandomTables(1, tables.size, 1, 0), 0, 0.0
    for level, token in enumerate(prefix):
        total += tables.levels[level][0, place, token].item()
        place = place * tables.size + token
    twin.length = tables.length - len(prefix)
    twin.levels = [
        level[:, place * tables.size**deep : (place + 1) * tables.size**deep]
        for deep, level in enumerate(tables.levels[len(prefix) :])
    ]
    return twin, total


@given(
    size=st.integers(2, 5),
    seed=SEEDS,
    width=st.integers(1, 6),
    refill=st.booleans(),
    data=st.data(),
)
def test_equals_the_search_on_the_tables_below_the_prefix(size, seed, width, refill, data):
    tables = RandomTables(1, size, 5, seed, sharpness=2.0)
    tokens = st.integers(0, size - 1).filter(lambda token: token != 1)
    prefix = data.draw(st.lists(tokens, min_size=1, max_size=4))
    options = {"bos": 0, "eos": 1, "width": width, "n_best": width, "refill": refill}
    forced = beam(tables.step, tables.start, max_length=5, prefix=prefix, **options)
    twin, total = below(tables, prefix)
    alone = beam(twin.step, twin.start, max_length=twin.length, **options)
    assert sequences(forced, 0) == [prefix + rest for rest in sequences(alone, 0)]
    torch.testing.assert_close(forced.log_prob, alone.log_prob + total)
    straight = greedy(tables.step, tables.start, bos=0, eos=1, max_length=5, prefix=prefix)
    rest = greedy(twin.step, twin.start, bos=0, eos=1, max_length=twin.length)
    assert straight.tokens.tolist() == [prefix + rest.tokens[0].tolist()]


@given(
    sources=st.integers(1, 3),
    size=st.integers(2, 5),
    seed=SEEDS,
    width=st.integers(1, 6),
    rule=RULES,
    refill=st.booleans(),
    ends=st.booleans(),
    count=st.integers(0, 4),
)
def test_a_batch_with_a_prefix_each_equals_the_definition(
    sources, size, seed, width, rule, refill, ends, count
):
    tables = RandomTables(sources, size, 4, seed, zeros=0.3)
    prefix = torch.randint(size, (sources, count), generator=torch.Generator().manual_seed(seed))
    eos = 1 if ends else None
    if ends:
        prefix[:, :-1] = prefix[:, :-1].where(prefix[:, :-1] != 1, torch.tensor(0))
    options = {"width": width, "n_best": width, "refill": refill, "length_rule": rule}
    start = {"bos": tables.bos, "eos": eos, "max_length": 4}
    found = beam(tables.step, tables.start, **start, **options, prefix=prefix)
    for source, forced in enumerate(prefix.tolist()):
        alone = tables.only(source)
        best = beam_by_definition(
            alone.step, alone.start, bos=0, eos=eos, max_length=4, prefix=forced, **options
        )
        assert sequences(found, source) == [tokens for _, tokens in best]
        scores = found.score[source][found.length[source] > 0].tolist()
        assert scores == pytest.approx([score for score, _ in best])


def test_the_tree_keeps_what_the_prefix_passed_by():
    tree = Tree(4)
    beam(two_tables, START, **TABLES, width=2, prefix=[B], trace=tree)
    first = {node.token: node.fate for node in tree[0] if node.length == 1}
    assert first == {A: "pruned", B: "kept", C: "pruned", EOS: "pruned"}
    assert all(tree.tokens(0, end)[0] == B for end in tree.complete(0))


def test_what_is_impossible_leads_nowhere():
    tables = {"bos": BOS, "eos": EOS, "max_length": 4, "prefix": [A, B, C, A]}  # A: 0 at step 4
    found = beam(two_tables, START, **tables, width=3)
    assert sequences(found, 0) == []
    assert greedy(two_tables, START, **tables).log_prob.tolist() == [-math.inf]


@pytest.mark.parametrize(
    ("prefix", "error", "sentence"),
    [
        ("AB", TypeError, "prefix must"),
        ([0.5], TypeError, r"prefix\[0\] must"),
        ([0, -1], ValueError, r"prefix\[1\] must"),
        ([0] * 5, ValueError, "prefix must"),
        ([EOS, 0], ValueError, "prefix must"),
        (torch.tensor([0]), ValueError, r"or a tensor \(B, P\) of them, got .* of shape \(1,\)"),
        (torch.tensor([[-1]]), ValueError, "prefix must"),
        (torch.zeros(2, 1).long(), ValueError, "one row for each source, 1, got 2"),
        ([4], ValueError, "prefix must"),
    ],
)
def test_nonsense_gets_one_clear_sentence(prefix, error, sentence):
    for search in (greedy, sample, beam):
        with pytest.raises(error, match=sentence):
            search(two_tables, START, **TABLES, prefix=prefix)


def test_every_source_has_its_forced_tokens():
    last = torch.tensor([1, 1])
    assert forced_tokens(None, last, eos=2, max_length=3).shape == (2, 0)
    assert forced_tokens([4, 2], last, eos=2, max_length=3).tolist() == [[4, 2], [4, 2]]
    with pytest.raises(ValueError, match="some of the 4 tokens that step scores, got 4"):
        check_known(torch.tensor([[4]]), 4)
