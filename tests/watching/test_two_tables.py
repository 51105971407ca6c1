"""The two tables by hand: what greedy search, a beam and exhaustive search make of them."""

import pytest
import torch

from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.references.exhaustive import exhaustive
from gates2heads.decoding.search import greedy
from gates2heads.watching.two_tables import (
    AFTER_C,
    BOS,
    EOS,
    NAMES,
    START,
    STEPS,
    TABLE,
    A,
    C,
    two_tables,
)

WHOLE = {"bos": BOS, "eos": EOS, "max_length": STEPS}


def named(tokens):
    return "".join(NAMES[token] for token in tokens)


def test_every_column_is_a_distribution_and_the_first_two_are_shared():
    for table in (TABLE, AFTER_C):
        assert torch.tensor(table).sum(0).tolist() == pytest.approx([1.0] * STEPS)
    assert [row[:2] for row in TABLE] == [row[:2] for row in AFTER_C]


def test_greedy_search_misses_what_a_beam_of_two_finds():
    single = greedy(two_tables, START, **WHOLE)
    assert named(single.tokens[0].tolist()) == "ABC<eos>"
    assert single.log_prob.exp().item() == pytest.approx(0.048)
    wide = beam(two_tables, START, **WHOLE, width=2)
    assert named(wide.tokens[0, 0].tolist()) == "ACB<eos>"
    assert wide.log_prob.exp().item() == pytest.approx(0.054)


def test_exhaustive_search_ends_early_unless_length_counts():
    best = exhaustive(two_tables, START, **WHOLE, n_best=2)
    assert [named(row[:n]) for row, n in zip(best.tokens[0].tolist(), (1, 2), strict=True)] == [
        "<eos>",
        "A<eos>",
    ]
    assert best.log_prob[0].exp().tolist() == pytest.approx([0.1, 0.1])
    long = exhaustive(two_tables, START, **WHOLE, length_rule=Power(0.75))
    assert named(long.tokens[0, 0].tolist()) == "ACB<eos>"


def test_the_second_table_holds_after_c_at_step_two_only():
    state = (2, torch.tensor([False, False]))
    log_probs, (step, after_c) = two_tables(state, torch.tensor([C, A]))
    assert step == 3
    assert after_c.tolist() == [True, False]
    assert log_probs.exp()[:, 0].tolist() == pytest.approx([0.1, 0.2])
    log_probs, _ = two_tables((3, after_c), torch.tensor([A, C]))  # C at step 3 changes nothing
    assert log_probs.exp()[:, 0].tolist() == pytest.approx([0.1, 0.0])


def test_nonsense_gets_one_clear_sentence():
    with pytest.raises(ValueError, match="state must"):
        two_tables((4, torch.tensor([False])), torch.tensor([A]))
