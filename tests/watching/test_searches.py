"""Greedy search beside a beam: the ranking is the beam's, every part is the model's own."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.search import greedy
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.watching.searches import compare, watch
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

TABLES = {"bos": BOS, "eos": EOS, "max_length": 4}
TOKENIZER = CharacterTokenizer(Vocabulary(["a", "b", "c"]))
SIZE = len(TOKENIZER.vocabulary)


def writer():
    torch.manual_seed(3)
    return EncoderDecoder(SIZE, SIZE, embedding_size=5, hidden_size=6).eval()


def test_the_two_tables_by_hand():
    told = compare(two_tables, START, **TABLES, width=2, length_rule=Power(0.75), pruned=1)
    assert told.greedy.tokens == [A, B, C, EOS]
    assert [found.tokens for found in told.ranking] == [[A, C, B, EOS], [A, B, C, EOS]]
    best = told.ranking[0]
    assert [math.exp(part) for part in best.parts] == pytest.approx([0.5, 0.3, 0.6, 0.6])
    assert best.log_prob == pytest.approx(math.log(0.054))
    assert best.score == pytest.approx(math.log(0.054) / 4**0.75)
    assert best.finished
    assert told.scored == 4 + 3 * 2 * 4
    assert told.steps == 4
    assert [sum(node.fate == "pruned" for node in told.nodes)] == [4]


def test_a_prefix_forces_both():
    told = compare(two_tables, START, **TABLES, width=2, prefix=[B])
    assert told.greedy.tokens[0] == B
    assert {found.tokens[0] for found in told.ranking} == {B}
    assert sum(node.fate == "pruned" for node in told.nodes if node.length == 1) == 3


@given(size=st.integers(2, 5), seed=st.integers(0, 2**31), width=st.integers(1, 6))
def test_ranking_and_greedy_are_those_of_the_searches(size, seed, width):
    tables = RandomTables(1, size, 4, seed, zeros=0.3)
    options = {"bos": 0, "eos": 1, "max_length": 4}
    told = compare(tables.step, tables.start, **options, width=width, length_rule=Power(1.0))
    found = beam(
        tables.step, tables.start, **options, width=width, n_best=width, length_rule=Power(1.0)
    )
    assert [one.tokens for one in told.ranking] == sequences(found, 0)
    count = len(told.ranking)
    assert [one.score for one in told.ranking] == pytest.approx(found.score[0, :count].tolist())
    assert told.scored == found.scored.item()
    single = greedy(tables.step, tables.start, **options)
    assert told.greedy.tokens == single.tokens[0, : len(told.greedy.tokens)].tolist()
    assert told.greedy.log_prob == pytest.approx(single.log_prob.item())
    for one in [*told.ranking, told.greedy]:
        assert sum(one.parts) == pytest.approx(one.log_prob)
        assert one.finished == (one.tokens[-1] == 1)


def test_a_text_is_watched_as_the_model_writes_it():
    seen = watch(writer(), "abca", TOKENIZER, TOKENIZER, max_length=7, width=3, pruned=2)
    assert seen.source == ["a", "b", "c", "a", "<eos>"]
    assert seen.words == TOKENIZER.vocabulary.tokens
    assert seen.limit == 7
    assert len(seen.compared.ranking) == 3
    again = watch(
        writer(), "abca", TOKENIZER, TOKENIZER, max_length=7, width=3,
        prefix=seen.compared.ranking[2].tokens,
    )  # fmt: skip
    assert again.compared.ranking[0].tokens == seen.compared.ranking[2].tokens


def test_where_nothing_is_possible_nothing_is_found():
    told = compare(two_tables, START, **TABLES, width=2, prefix=[A, B, C, A])
    assert told.ranking == []
    parts = [math.exp(part) for part in told.greedy.parts]
    assert parts == pytest.approx([0.5, 0.4, 0.4, 0])  # A has no probability at step 4

    def closed(state, last_tokens):
        return torch.full((1, 3), -torch.inf), state

    nothing = compare(closed, 0, bos=0, eos=1, max_length=2)
    assert nothing.ranking == []
    assert nothing.greedy == ([0, 0], [-math.inf] * 2, -math.inf, -math.inf, False)


@given(
    size=st.integers(2, 5),
    seed=st.integers(0, 2**31),
    prefix=st.lists(st.integers(0, 1), max_size=4).map(tuple),
)
@example(size=2, seed=3, prefix=(1, 1, 0, 0))
def test_greedy_is_greedy_search_where_the_prefix_is_impossible_too(size, seed, prefix):
    tables = RandomTables(1, size, 4, seed, zeros=0.8)
    end = prefix.index(1) + 1 if 1 in prefix else len(prefix)
    options = {"bos": 0, "eos": 1, "max_length": 4, "prefix": prefix[:end]}
    told = compare(tables.step, tables.start, **options, width=2, length_rule=Power(1.0)).greedy
    found = greedy(tables.step, tables.start, **options)
    assert told.tokens == found.tokens[0].tolist()
    assert told.log_prob == pytest.approx(found.log_prob.item())
    assert told.finished == found.finished.item()
    assert sum(told.parts) == pytest.approx(told.log_prob)
    assert told.score == pytest.approx(told.log_prob / len(told.tokens))


def test_nonsense_gets_one_clear_sentence():
    with pytest.raises(TypeError, match="source must"):
        watch(writer(), "a", 3, TOKENIZER)
    with pytest.raises(ValueError, match="bos must"):
        compare(two_tables, START, **{**TABLES, "bos": torch.tensor([4, 4])})
