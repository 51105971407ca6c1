"""Repetition penalty and n-gram blocking: by hand, beside Hugging Face's, and in a search."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import NoRepeatNGramLogitsProcessor, RepetitionPenaltyLogitsProcessor

from gates2heads.decoding.repetition import (
    adjusted,
    block_repeated_ngrams,
    history,
    penalise_repetition,
)
from gates2heads.decoding.search import greedy

LOGS = torch.tensor([[0.5, 0.25, 0.25]]).log()


def random_case(seed, size=7, length=11):
    draw = torch.Generator().manual_seed(seed)
    log_probs = torch.randn(3, size, generator=draw).log_softmax(-1)
    return log_probs, torch.randint(size, (3, length), generator=draw)


def test_a_penalty_by_hand():
    """Token 0 was generated: 0.5² = 0.25, so that all three tokens weigh the same."""
    found = penalise_repetition(LOGS, torch.tensor([[0, 0, 9]]), 2.0)
    torch.testing.assert_close(found.exp(), torch.full((1, 3), 1 / 3))
    torch.testing.assert_close(penalise_repetition(LOGS, torch.tensor([[0]]), 1.0), LOGS)


def test_blocked_ngrams_by_hand():
    """After 0 1 2 0 1 the trigram 0 1 2 would come again; the bigrams forbid it as well."""
    written = torch.tensor([[0, 1, 2, 0, 1]])
    for order in (2, 3):
        found = block_repeated_ngrams(LOGS, written, order).exp()
        torch.testing.assert_close(found, torch.tensor([[2 / 3, 1 / 3, 0.0]]))
    torch.testing.assert_close(block_repeated_ngrams(LOGS, written, 4), LOGS)
    everything = block_repeated_ngrams(LOGS, written, 1)
    torch.testing.assert_close(everything, LOGS)  # nothing would be left


@given(st.integers(0, 10_000), st.floats(1, 3))
def test_the_penalty_is_that_of_transformers(seed, penalty):
    log_probs, tokens = random_case(seed)
    theirs = RepetitionPenaltyLogitsProcessor(penalty)(tokens, log_probs.clone())
    ours = penalise_repetition(log_probs, tokens, penalty)
    torch.testing.assert_close(ours, theirs.log_softmax(-1))


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_blocked_ngrams_are_those_of_transformers(seed, order):
    log_probs, tokens = random_case(seed)
    theirs = NoRepeatNGramLogitsProcessor(order)(tokens, log_probs.clone())
    ours = block_repeated_ngrams(log_probs, tokens, order)
    torch.testing.assert_close(ours == -torch.inf, theirs == -torch.inf)


@given(st.integers(0, 50))
def test_greedy_search_with_blocked_bigrams_repeats_none(seed):
    """The same distribution after every token would repeat its most probable token for ever."""
    (log_probs,) = torch.randn(1, 7, generator=torch.Generator().manual_seed(seed)).log_softmax(-1)

    def step(state, last_tokens):
        return log_probs.expand(len(last_tokens), -1), state

    blocked = adjusted(step, lambda logs, tokens: block_repeated_ngrams(logs, tokens, 2))
    options = {"bos": 0, "eos": None, "max_length": 12}
    plain = greedy(step, torch.zeros(1), **options).tokens[0].tolist()
    assert len(set(plain)) == 1
    written = [0, *greedy(blocked, history(torch.zeros(1)), **options).tokens[0].tolist()]
    pairs = list(pairwise(written))
    assert len(pairs) == len(set(pairs))
