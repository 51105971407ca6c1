"""Chapter 8, open-ended generation: outputs that may not end, and how much they repeat."""

from collections.abc import Callable, Sequence

import torch

from gates2heads.accepts import accepts, natural
from gates2heads.models.language.base import LanguageModel

BEGINNINGS = ("A man", "A group of people", "Two children", "A dog")
STOPS = ("<eos>", ".", "!", "?")
LONGEST, NGRAM = 60, 4


@accepts(n=natural)
def repeated(tokens: Sequence[int], n: int = NGRAM) -> float:
    """The share of the n-grams of a sequence that occurred in it before."""
    ngrams = [tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]
    return 1 - len(set(ngrams)) / len(ngrams)


def stops(pieces: Sequence[str]) -> list[int]:
    """The numbers of the tokens that end a sentence, given the texts of all tokens."""
    return [number for number, piece in enumerate(pieces) if piece.strip() in STOPS]


def without_stops(model: LanguageModel, forbidden: Sequence[int]) -> Callable:
    """The model's step function, which never gives a forbidden token: log-probabilities (N, V)."""

    def step(state, last_tokens):
        log_probs, state = model.step(state, last_tokens)
        log_probs = log_probs.index_fill(1, torch.tensor(forbidden), -torch.inf)
        return log_probs.log_softmax(-1), state

    return step
