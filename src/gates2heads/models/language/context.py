"""What all n-gram models share: the next token depends on the n − 1 tokens before it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_count, check_flag
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import LanguageModel

UNWRITTEN = (Vocabulary.pad, Vocabulary.bos)


class NgramState(NamedTuple):
    """Where a text stands."""

    context: Tensor  # (B, n − 1) long: the last tokens, `<bos>` before the first


class ContextModel(LanguageModel):
    """Approximate p(x_t | all before) by p(x_t | the n − 1 tokens before).

    Every text is read with n − 1 `<bos>` before it. A subclass says in `_probs` what comes after a
    context. `<pad>` and `<bos>` are never written and have probability 0.

    Args:
        vocabulary_size: V.
        order: n; 1 looks at no context.

    Raises:
        TypeError, ValueError: a size is no whole number of at least 1, or V has no room for a
            token that can be written.
    """

    state_type = NgramState

    def __init__(self, vocabulary_size: int, order: int = 3):
        check_count("vocabulary_size", vocabulary_size, least=len(UNWRITTEN) + 1)
        check_count("order", order)
        super().__init__()
        self.vocabulary_size, self.order = vocabulary_size, order
        self.uniform = torch.ones(vocabulary_size, dtype=torch.float64)
        self.uniform[list(UNWRITTEN)] = 0.0
        self.uniform /= self.uniform.sum()

    def probs(self, context: Sequence[int] = ()) -> Tensor:
        """What comes next after a context of any length: (V,), sums to 1.

        Raises:
            TypeError, ValueError: the context is no list of token numbers.
        """
        context = _token_lists("context", [context], self.vocabulary_size, written=False)[0]
        padded = [Vocabulary.bos] * (self.order - 1) + context
        return self._probs(tuple(padded[len(context) :]))

    def _probs(self, context: tuple[int, ...]) -> Tensor:
        """(V,) float64 after a context of n − 1 tokens."""
        raise NotImplementedError(f"{type(self).__name__} must say how it smooths")

    def _begin(self, batch_size: int) -> NgramState:
        return NgramState(torch.full((batch_size, self.order - 1), Vocabulary.bos))

    def _advance(self, state: NgramState, last_tokens: Tensor):
        longer = torch.cat([state.context, last_tokens[:, None].to(state.context)], dim=1)
        context = longer[:, 1:]  # (B, n) -> (B, n − 1)
        probs = torch.stack([self._probs(tuple(row)) for row in context.tolist()])
        return probs.log().to(last_tokens.device), NgramState(context)

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        padded = torch.cat([self._begin(len(tokens)).context.to(tokens), tokens], dim=1)
        runs = padded.unfold(1, self.order, 1).flatten(0, 1).tolist()  # B · T times n
        # Each distribution is made once, for all the places at which its context stands.
        places = defaultdict(list)
        for place in mask.flatten().nonzero()[:, 0].tolist():
            places[tuple(runs[place][:-1])].append(place)
        result = torch.zeros(tokens.numel(), dtype=torch.float64)
        for context, here in places.items():
            result[here] = self._probs(context)[[runs[place][-1] for place in here]].log()
        return result.view(tokens.shape).to(tokens.device)


def token_lists(texts, vocabulary_size: int, *, written: bool = True) -> list[list[int]]:
    """Check texts, or contexts, and give them as lists of numbers in the vocabulary.

    Args:
        texts: lists of token numbers.
        vocabulary_size: V.
        written: whether they are texts, none of which is empty or holds what is never written.

    Raises:
        TypeError, ValueError: with a sentence that says what is wrong.
    """
    check_count("vocabulary_size", vocabulary_size)
    check_flag("written", written)
    return _token_lists("texts", texts, vocabulary_size, written=written)


def _token_lists(name: str, texts, vocabulary_size: int, *, written: bool) -> list[list[int]]:
    """`token_lists` of what a caller knows by another name."""
    try:
        texts = [list(text) for text in texts]
        if any(getattr(number, "ndim", 0) for text in texts for number in text):
            raise TypeError("an array in the place of a number")
        numbers = torch.tensor([number for text in texts for number in text], dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(f"{name} must hold token numbers, got {shown(texts)}") from error
    if numbers.dim() != 1 or (numbers != numbers.round()).any():
        raise TypeError(f"{name} must hold whole numbers, got {shown(texts)}")
    if written and not (texts and all(texts)):
        raise ValueError(f"{name} must hold at least one token each, got {shown(texts)}")
    wrong = (numbers < 0) | (numbers >= vocabulary_size)
    if wrong.any():
        wanted = f"numbers 0 to {vocabulary_size - 1}"
        raise ValueError(f"{name} must hold {wanted}, got {numbers[wrong][0]:.0f}")
    if written and (numbers <= max(UNWRITTEN)).any():
        raise ValueError(f"{name} must not hold <pad> or <bos>, which are never written")
    return texts
