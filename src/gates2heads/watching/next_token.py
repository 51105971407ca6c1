"""A text scored by a language model: the surprisal of each token, and the likely next tokens."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural, string
from gates2heads.data.tokens.vocabulary import Vocabulary, check_tokenizer
from gates2heads.models.language.base import LanguageModel


class Foreseen(NamedTuple):
    """The tokens, the surprisal of each in bits, and the next-token distribution."""

    tokens: list[str]  # T
    bits: Tensor  # (T,) float64: −log2 of the model's probability of each; inf where that is 0
    log_probs: Tensor  # (V,) float64 in nats: the next-token distribution
    vocabulary: list[str]  # V

    @property
    def end_bits(self) -> float:
        """The surprisal of the end marker here, in bits."""
        return -self.log_probs[Vocabulary.eos].item() / math.log(2)


@accepts(model=instance(LanguageModel), text=string)
def foresee(model: LanguageModel, text: str, tokenizer) -> Foreseen:
    """Run a model on a text, which may be empty, and keep the surprisal of its T tokens.

    Args:
        model: has `start` and `step`.
        text: the input, from its beginning.
        tokenizer: of the model.

    Returns:
        T tokens, their bits (T,), the next-token log-probabilities (V,), V tokens.

    Raises:
        TypeError, ValueError: `tokenizer` is not a tokenizer, or as raised by it.
    """
    numbers = _numbers(text, tokenizer)
    found, tokens = _followed(model, numbers), tokenizer.vocabulary.tokens
    return Foreseen(
        [tokens[one] for one in numbers], _bits(found, numbers), found[-1], list(tokens)
    )


class Scored(NamedTuple):
    """The tokens that were read of a text, and the most probable ones at each position."""

    text: str
    unread: list[str]  # the tokens at the beginning for which the model has no room
    tokens: list[str]  # T
    bits: Tensor  # (T,) float64: −log2 of the model's probability of each
    likeliest: Tensor  # (T, K) long: the tokens with the highest probability, falling
    probs: Tensor  # (T, K) float64: their probabilities
    log_probs: Tensor  # (V,) float64 in nats: what comes next
    vocabulary: list[str]  # V


@accepts(model=instance(LanguageModel), text=string, top=natural)
def score_tokens(model: LanguageModel, text: str, tokenizer, *, top: int = 5) -> Scored:
    """Read the end of a text that may be empty, with the alternatives to each token.

    Of a text that is longer than the model's `max_length`, the last tokens are read that have room
    beside `<bos>`.

    Args:
        model: has `start` and `step`.
        text: what is read.
        tokenizer: of the model.
        top: K, number of the most probable tokens that are kept at each position.

    Raises:
        TypeError, ValueError: as in `foresee`.
    """
    numbers = _numbers(text, tokenizer)
    room = len(numbers) if model.max_length is None else model.max_length - 1
    left = max(0, len(numbers) - room)
    read, tokens = numbers[left:], tokenizer.vocabulary.tokens
    found = _followed(model, read)
    best = torch.stack(found)[:-1].topk(min(top, len(tokens)))
    return Scored(
        text,
        [tokens[one] for one in numbers[:left]],
        [tokens[one] for one in read],
        _bits(found, read),
        best.indices,
        best.values.exp(),
        found[-1],
        list(tokens),
    )


def _numbers(text: str, tokenizer) -> list[int]:
    check_tokenizer(tokenizer)
    return tokenizer.encode(text, eos=False) if text else []


@torch.no_grad()
def _followed(model: LanguageModel, numbers: list[int]) -> list[Tensor]:
    """The log-probabilities (V,) after `<bos>` and after each of the tokens."""
    state, found = model.start(), []
    for last in [Vocabulary.bos, *numbers]:
        log_probs, state = model.step(state, torch.tensor([last]))
        found.append(log_probs[0].double().cpu())
    return found


def _bits(found: list[Tensor], numbers: list[int]) -> Tensor:
    # 0 and not −0 where a token was certain
    bits = [abs(row[one].item()) / math.log(2) for row, one in zip(found, numbers, strict=False)]
    return torch.tensor(bits, dtype=torch.float64)
