"""The tree of a search that follows one sequence; plain data for a picture."""

import json
import math

import pytest
import torch

from gates2heads.decoding.beam import beam
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.search import greedy
from gates2heads.decoding.trace import Node, Tree
from tests.decoding.step_functions import BOS, EOS, START, A, B, C, RandomTables, two_tables


def test_greedy_on_the_table_by_hand():
    tree = Tree(branches=2)
    greedy(two_tables, START, bos=BOS, eos=EOS, max_length=2, trace=tree)
    assert len(tree) == 1
    assert tree[0][0] == Node(None, 0, BOS, 0.0, 0.0, "kept")
    rest = [(n.parent, n.length, n.token, n.fate) for n in tree[0][1:]]
    assert rest == [
        (0, 1, A, "kept"),
        (0, 1, B, "pruned"),
        (1, 2, B, "cut"),
        (1, 2, C, "pruned"),
    ]
    logs = [node.log_prob for node in tree[0][1:]]
    chances = [0.5, 0.2, 0.5 * 0.4, 0.5 * 0.3]
    assert logs == pytest.approx([math.log(chance) for chance in chances])
    assert tree.tokens(0, 4) == [A, C]
    assert tree.complete(0) == [3]


def test_each_source_has_its_tree_until_it_ends():
    tables, tree = RandomTables(5, 3, 4, seed=2), Tree(branches=1)
    output = greedy(tables.step, tables.start, bos=tables.bos, eos=1, max_length=4, trace=tree)
    assert len({len(tree[source]) for source in range(5)}) > 1
    for source in range(5):
        (end,) = tree.complete(source)
        written = tree.tokens(source, end)
        assert written == output.tokens[source, : len(written)].tolist()
        assert tree[source][end].fate == ("ended" if output.finished[source] else "cut")
        assert tree[source][end].log_prob == pytest.approx(output.log_prob[source].item())


def test_a_sample_is_noted_even_if_it_is_not_likely():
    tables, tree = RandomTables(7, 5, 3, seed=2), Tree(branches=1)
    output = sample(tables.step, tables.start, bos=tables.bos, eos=None, max_length=3, trace=tree)
    for source in range(7):
        assert tree.tokens(source, tree.complete(source)[0]) == output.tokens[source].tolist()
    assert any(node.fate == "pruned" for source in range(7) for node in tree[source])


def test_a_tree_is_plain_data_and_forgets_the_search_before():
    tree = Tree(branches=4)
    for _ in range(2):
        greedy(two_tables, START, bos=BOS, eos=EOS, max_length=4, trace=tree)
    plain = json.loads(json.dumps(tree.plain(0), allow_nan=False))
    assert plain[0]["parent"] is None
    assert len(plain) == 1 + 3 * 4 + 3  # A at step 4 has no probability
    assert set(plain[0]) == {"parent", "length", "token", "log_prob", "score", "fate"}


def test_of_what_was_pruned_the_likeliest_are_kept():
    whole, some = Tree(branches=5), Tree(branches=5, pruned=2)
    tables = RandomTables(1, 5, 4, seed=3)
    for tree in (whole, some):
        options = {"bos": 0, "eos": 1, "max_length": 4, "width": 3, "trace": tree}
        beam(tables.step, tables.start, **options)
    for length in range(1, 5):
        steps = [[node for node in tree[0] if node.length == length] for tree in (whole, some)]
        every, kept = ([node.log_prob for node in of if node.fate == "pruned"] for of in steps)
        assert sorted(kept) == sorted(every)[-2:]
        followed = [[node.token for node in of if node.fate != "pruned"] for of in steps]
        assert followed[0] == followed[1]
    assert [some.tokens(0, end) for end in some.complete(0)] == [
        whole.tokens(0, end) for end in whole.complete(0)
    ]


def test_a_path_without_probability_is_left_out():
    def step(state, last_tokens):
        return torch.full((len(last_tokens), 3), -torch.inf), state

    tree = Tree()
    greedy(step, 0, bos=0, eos=1, max_length=3, trace=tree)
    assert len(tree[0]) == 1
    assert tree.complete(0) == []
