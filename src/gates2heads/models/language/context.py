"""Base class of n-gram models: the next token depends on the n − 1 tokens before it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, listed, natural
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import LanguageModel

UNWRITTEN = (Vocabulary.pad, Vocabulary.bos)


class NgramState(NamedTuple):
    """The state of a sequence."""

    context: Tensor  # (B, n − 1) long: the last tokens, `<bos>` before the first


@accepts(vocabulary_size=natural(least=len(UNWRITTEN) + 1), order=natural)
class ContextModel(LanguageModel):
    """Approximate p(x_t | all before) by p(x_t | the n − 1 tokens before).

    Every sequence is preceded by n − 1 `<bos>`. A subclass defines in `_probs` the distribution
    after a context. `<pad>` and `<bos>` are never generated and have probability 0.

    Args:
        vocabulary_size: V.
        order: n; 1 uses no context.
    """

    state_type = NgramState

    def __init__(self, vocabulary_size: int, order: int = 3):
        super().__init__()
        self.vocabulary_size, self.order = vocabulary_size, order
        self.uniform = torch.ones(vocabulary_size, dtype=torch.float64)
        self.uniform[list(UNWRITTEN)] = 0.0
        self.uniform /= self.uniform.sum()

    def probs(self, context: Sequence[int] = ()) -> Tensor:
        """The next-token distribution (V,) after a context of any length; it sums to 1."""
        listed(kind=natural(least=0, most=self.vocabulary_size - 1)).check("context", context)
        padded = [Vocabulary.bos] * (self.order - 1) + list(context)
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
        # Each distribution is computed once, for all positions at which its context occurs.
        places = defaultdict(list)
        for place in mask.flatten().nonzero()[:, 0].tolist():
            places[tuple(runs[place][:-1])].append(place)
        result = torch.zeros(tokens.numel(), dtype=torch.float64)
        for context, here in places.items():
            result[here] = self._probs(context)[[runs[place][-1] for place in here]].log()
        return result.view(tokens.shape).to(tokens.device)
