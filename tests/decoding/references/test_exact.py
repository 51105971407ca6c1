"""Exact search against exhaustive search on random tables, and the bound on what it looks at."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.beam import beam
from gates2heads.decoding.references.exact import exact
from gates2heads.decoding.references.exhaustive import exhaustive
from tests.decoding.step_functions import BOS, EOS, START, A, B, C, RandomTables, two_tables

TABLES = {"bos": BOS, "eos": EOS, "max_length": 4}


def test_by_hand_on_the_two_tables():
    """Two are likelier than 0.048 and 0.054: <eos> at once, 0.1, and A <eos>, 0.5 · 0.2 = 0.1."""
    found = exact(two_tables, START, **TABLES, threshold=math.log(0.054))
    assert found.tokens in ([EOS], [A, EOS])
    assert (found.finished, found.proven) == (True, True)
    assert math.exp(found.log_prob) == pytest.approx(0.1)


def test_a_small_numpy_number_may_be_the_end():
    for kind in (np.uint8, np.int32):
        known = math.log(0.054)
        found = exact(two_tables, START, bos=BOS, eos=kind(EOS), max_length=4, threshold=known)
        assert math.exp(found.log_prob) == pytest.approx(0.1)


def test_nothing_is_likelier_than_the_likeliest():
    """With the best as the threshold, nothing is found, and that is proven with few prefixes."""
    found = exact(two_tables, START, **TABLES, threshold=math.log(0.1) + 1e-9)
    assert found.tokens is None
    assert found.proven
    # Above 0.1: the empty one, A, B and C at 0.5, 0.2 and 0.2, and A B at 0.2, A C at 0.15.
    assert found.prefixes == 6


@given(
    seed=st.integers(0, 10_000),
    size=st.sampled_from([2, 3, 5]),
    ends=st.booleans(),
    rows=st.sampled_from([1, 2, 256]),
    zeros=st.sampled_from([0.0, 0.3]),
)
def test_equals_exhaustive_search(seed, size, ends, rows, zeros):
    """Whatever the tables, the threshold of a beam and the number of rows at once."""
    tables = RandomTables(1, size, 4, seed, zeros=zeros, sharpness=2.0)
    eos = size - 1 if ends else None
    options = {"bos": 0, "eos": eos, "max_length": 4}
    best = exhaustive(tables.step, tables.start, **options)
    wide = beam(tables.step, tables.start, **options, width=2)
    threshold = wide.log_prob[0, 0].item()
    threshold = threshold - 1e-9 if math.isfinite(threshold) else -100.0
    found = exact(tables.step, tables.start, **options, threshold=threshold, rows=rows)
    assert found.proven
    assert found.log_prob == pytest.approx(best.log_prob[0, 0].item(), abs=1e-6)
    assert found.tokens is not None
    assert found.finished == (found.tokens[-1] == eos)


@given(seed=st.integers(0, 10_000), power=st.floats(0.5, 4))
def test_few_prefixes_are_above_a_bar(seed, power):
    """Of each length at most 1/P, since their probabilities sum to at most 1."""
    tables = RandomTables(1, 5, 5, seed, sharpness=2.0)
    found = exact(tables.step, tables.start, bos=0, eos=4, max_length=5, threshold=-power, rows=1)
    assert found.prefixes <= 1 + 4 * math.exp(power)


@pytest.mark.parametrize(("rows", "asked"), [(1, [[9], [1], [2], [0]]), (2, [[9], [1, 2], [0]])])
def test_the_likeliest_prefixes_go_first(rows, asked):
    """Of 0.2, 0.5 and 0.3 first 0.5; its thirds are below 0.2, so that the others follow."""
    tables, seen = torch.tensor([[0.2, 0.5, 0.3], [1 / 3] * 3]).log(), []

    def step(level, last_tokens):
        seen.append(last_tokens.tolist())
        return tables[[level]].expand(len(last_tokens), -1), level + 1

    exact(step, 0, bos=9, eos=None, max_length=2, threshold=-50, rows=rows)
    assert seen == asked


def test_the_limit_stops_it_unproven():
    tables = RandomTables(1, 5, 5, 1)
    found = exact(tables.step, tables.start, bos=0, eos=None, max_length=5, threshold=-50, limit=3)
    assert not found.proven
    assert found.prefixes >= 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bos": torch.tensor([BOS, BOS])}, "one source at a time"),
        ({"state": torch.zeros(5)}, "state must"),
    ],
)
def test_bad_input_is_refused(changed, words):
    options = {"state": START, **TABLES, "threshold": -1.0, **changed}
    with pytest.raises(ValueError, match=words):
        exact(two_tables, **options)


def test_letters_of_the_tables():
    """The test above counts on this order."""
    assert (A, B, C, EOS) == (0, 1, 2, 3)
