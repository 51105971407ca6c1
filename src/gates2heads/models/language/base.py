"""The interface of language models: next-token distributions and sequence probabilities."""

from typing import Any

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, instance, natural, tokens
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary

TOKENS = tokens("B T", below="vocabulary_size")


class LanguageModel:
    """Assign each token a probability that depends on the preceding tokens.

    Source: Bengio et al. 2003, eq. 1: p(x) = Π p(x_t | x_1, …, x_{t−1}), the chain rule. A sequence
    begins after `<bos>`, which is an input and never generated, and ends with `<eos>`, which is
    generated. So the probabilities of the sequences of all lengths sum to 1.

    A subclass sets `vocabulary_size` and `state_type`, a tuple whose first entry is a tensor, or a
    tuple of them, with the batch first; and it defines `_begin`, `_advance` and `_score`.
    """

    vocabulary_size: int
    state_type: type
    max_length: int | None = None  # the longest accepted sequence; None: any

    @accepts(batch_size=natural)
    def start(self, batch_size: int = 1) -> Any:
        """The state before the first step, for a batch of B sequences."""
        return self._begin(batch_size)

    @accepts(last_tokens=tokens("B", below="vocabulary_size"))
    def step(self, state: Any, last_tokens: Tensor):
        """Advance by one token; every search in `gates2heads.decoding` calls this method.

        Args:
            state: from `start` or from the previous step.
            last_tokens: (B,) long, the last token of each sequence; `<bos>` at first.

        Returns:
            log_probs (B, V) in nats, and the next state.

        Raises:
            TypeError: the state does not belong to this model.
            ValueError: the state has another number of sequences.
        """
        instance(self.state_type, "from `start` or `step`").check("state", state)
        if len(last_tokens) != _batch_size(state):
            raise ValueError(
                f"last_tokens must be {_batch_size(state)}, one for each text of the state, got "
                f"{len(last_tokens)}"
            )
        return self._advance(state, last_tokens)

    @accepts(tokens=TOKENS, mask=boolean_mask("B T"))
    def log_probs(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The log-probability of each token given the preceding tokens, as for perplexity.

        Args:
            tokens: (B, T) long, without `<bos>` and with `<eos>`.
            mask: (B, T) bool, True = a real token; padding is at the end.

        Returns:
            (B, T) in nats, 0 at padding: the sum over T is the log-probability of a sequence.

        Raises:
            ValueError: there are more than `max_length` tokens.
        """
        self._check_length(tokens)
        if mask is None:
            mask = torch.ones_like(tokens, dtype=torch.bool)
        mask = mask.expand(tokens.shape)
        return self._score(tokens.long(), mask).masked_fill(~mask, 0.0)

    def _check_length(self, tokens: Tensor) -> None:
        if self.max_length is not None and tokens.shape[1] > self.max_length:
            raise ValueError(
                f"tokens must be at most {self.max_length} a text, got {tokens.shape[1]}"
            )

    def _begin(self, batch_size: int) -> Any:
        """The first state."""
        raise NotImplementedError(f"{type(self).__name__} must say how it begins")

    def _advance(self, state: Any, last_tokens: Tensor):
        """log_probs (B, V) and the next state."""
        raise NotImplementedError(f"{type(self).__name__} must say how it goes on")

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The log-probability of each of the tokens (B, T); any number where the mask is False."""
        raise NotImplementedError(f"{type(self).__name__} must say how it scores")


def _batch_size(state: tuple) -> int:
    """The number of rows of a state's first tensor, which is its first entry or part of it."""
    first: Any = state
    while isinstance(first, tuple):
        first = first[0]
    return len(first)


class NeuralLanguageModel(LanguageModel, nn.Module):
    """A language model that is trained by gradient descent; a subclass defines `_logits`."""

    @accepts(batch=instance(Batch, "from `collate`"))
    def forward(self, batch: Batch) -> Tensor:
        """Teacher forcing, so that training is the same as for a model with a source.

        Args:
            batch: B sequences as the targets of a `Batch`; its sources are ignored.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.
        """
        return self.logits(batch.target_in)

    @accepts(tokens=TOKENS)
    def logits(self, tokens: Tensor) -> Tensor:
        """Next-token logits (B, T, V) after each of the tokens (B, T), which begin with `<bos>`.

        Raises:
            ValueError: there are more than `max_length` tokens.
        """
        self._check_length(tokens)
        return self._logits(tokens)

    def _logits(self, tokens: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must say what comes next")

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        begin = torch.full_like(tokens[:, :1], Vocabulary.bos)
        read = torch.cat([begin, tokens[:, :-1]], dim=1)  # shifted one step to the right
        log_probs = self._logits(read).log_softmax(dim=-1)  # (B, T, V)
        return log_probs.gather(2, tokens[..., None]).squeeze(2)
