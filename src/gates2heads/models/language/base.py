"""What every language model answers: which token comes next, and how likely a text is."""

from typing import Any

import torch
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.models import check_last_tokens, check_length, check_state
from gates2heads.checks.tensors import check_device, check_mask, check_tokens
from gates2heads.checks.values import check_count
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary


class LanguageModel:
    """Give each token a probability that depends on the tokens before it.

    Source: Bengio et al. 2003, eq. 1: p(x) = Π p(x_t | x_1, …, x_{t−1}), the chain rule. A text
    begins after `<bos>`, which is read and never written, and ends with `<eos>`, which is written:
    so that the texts of all lengths share one probability of 1.

    A subclass sets `vocabulary_size` and `state_type`, a tuple whose first entry is a tensor, or a
    tuple of them, with the batch first; and it defines `_begin`, `_advance` and `_score`.
    """

    vocabulary_size: int
    state_type: type
    max_length: int | None = None  # the longest text that is read; None: any

    def start(self, batch_size: int = 1) -> Any:
        """The state before the first step, for B texts at once.

        Raises:
            TypeError, ValueError: `batch_size` is no whole number of at least 1.
        """
        check_count("batch_size", batch_size)
        return self._begin(batch_size)

    def step(self, state: Any, last_tokens: Tensor):
        """Advance by one token, as every search in `gates2heads.decoding` asks it to.

        Args:
            state: from `start` or from the step before.
            last_tokens: (B,) long, what was written last; `<bos>` at first.

        Returns:
            log_probs (B, V) in nats, and the next state.

        Raises:
            TypeError, ValueError: the state is none, or last_tokens is no integer tensor, does not
                fit the state's batch, or holds a number outside the vocabulary.
        """
        check_state(state, self.state_type)
        self._check_device("last_tokens", last_tokens)
        check_last_tokens(last_tokens, _batch_size(state), self.vocabulary_size)
        return self._advance(state, last_tokens)

    def log_probs(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The log-probability of each token, given those before it; perplexity reads these.

        Args:
            tokens: (B, T) long, without `<bos>` and with `<eos>`.
            mask: (B, T) bool, True = a real token; padding stands at the end.

        Returns:
            (B, T) in nats, 0 at padding: the sum over T is the log-probability of a text.

        Raises:
            TypeError, ValueError: the tokens are empty, too long, or no integer tensor, or the
                mask is not bool or does not fit.
        """
        self._check_tokens("tokens", tokens)
        check_mask(mask, tokens.shape, like=tokens)
        if mask is None:
            mask = torch.ones_like(tokens, dtype=torch.bool)
        mask = mask.expand(tokens.shape)
        return self._score(tokens.long(), mask).masked_fill(~mask, 0.0)

    def _check_tokens(self, name: str, tokens: Tensor) -> None:
        self._check_device(name, tokens)
        check_tokens(name, tokens, self.vocabulary_size)
        if self.max_length is not None:
            check_length(name, tokens.shape[1], self.max_length)

    def _check_device(self, name: str, tokens: Tensor) -> None:
        """Refuse tokens that lie elsewhere than the model; a table of counts lies nowhere."""

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
    """The rows of the first tensor of a state, which stands in its first entry, or in that one's.

    Raises:
        TypeError: there is no such tensor.
    """
    first: Any = state
    while isinstance(first, tuple) and first:
        first = first[0]
    if not isinstance(first, Tensor) or not first.dim():
        raise TypeError(
            f"state must come from `start` or `step`, got {shown(first)} in the place of a tensor"
        )
    return len(first)


class NeuralLanguageModel(LanguageModel, nn.Module):
    """A language model that is trained by gradient; a subclass defines `_logits`."""

    def forward(self, batch: Batch) -> Tensor:
        """Teacher forcing, so that training is the same as for a model with a source.

        Args:
            batch: B texts as the targets of a `Batch`; its sources are not read.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.

        Raises:
            TypeError, ValueError: it is no batch, or its target is empty, too long or no integer
                tensor.
        """
        if not isinstance(batch, Batch):
            kind = type(batch).__name__
            raise TypeError(f"batch must be a Batch, as `collate` makes, got {kind}")
        return self.logits(batch.target_in)

    def logits(self, tokens: Tensor) -> Tensor:
        """What may come after each of the tokens (B, T), `<bos>` first: logits (B, T, V).

        Raises:
            TypeError, ValueError: the tokens are empty, too long, or no integer tensor.
        """
        self._check_tokens("tokens", tokens)
        return self._logits(tokens)

    def _check_device(self, name: str, tokens: Tensor) -> None:
        check_device(self, **{name: tokens})

    def _logits(self, tokens: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must say what comes next")

    def _score(self, tokens: Tensor, mask: Tensor) -> Tensor:
        begin = torch.full_like(tokens[:, :1], Vocabulary.bos)
        read = torch.cat([begin, tokens[:, :-1]], dim=1)  # shifted one step to the right
        log_probs = self._logits(read).log_softmax(dim=-1)  # (B, T, V)
        return log_probs.gather(2, tokens[..., None]).squeeze(2)
