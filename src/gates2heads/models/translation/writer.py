"""Base class of recurrent decoders: each step receives a token and updates a state."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.layers.recurrent.by_name import Carried
from gates2heads.models.translation.memory import Memory


class DecoderState(NamedTuple):
    """A decoder's state; every tensor has the batch first."""

    carried: Carried  # hidden, and the cell of an LSTM; each (B, num_layers, U)
    attentional_state: Tensor  # (B, U) what input feeding passes on; (B, 0) without it
    steps: Tensor  # (B,) long: the number of tokens read so far
    memory: Memory


class Writer(nn.Module):
    """Base class of recurrent decoders: each step receives a token and updates a state.

    With teacher forcing the states do not depend on the outputs, so the logits of all steps are
    computed together at the end: one matrix product instead of one for each step.
    """

    state_type = DecoderState
    embedding: nn.Embedding
    dropout: float

    def step(self, state: DecoderState, last_tokens: Tensor):
        """Process last_tokens (B,) and return logits (B, V) and the next state."""
        read, state = self._advance(state, self._embed(last_tokens))
        return self._write(read), state

    def force(self, state: DecoderState, target_in: Tensor) -> Tensor:
        """Process target_in (B, T) and return logits (B, T, V)."""
        reads = []
        for vectors in self._embed(target_in).unbind(1):
            read, state = self._advance(state, vectors)
            reads.append(read)
        return self._write(torch.stack(reads, dim=1))

    def _embed(self, tokens: Tensor) -> Tensor:
        return F.dropout(self.embedding(tokens), self.dropout, self.training)

    def _advance(self, state: DecoderState, vectors: Tensor):
        """One step on token vectors (B, E): the output layer's input (B, ·), and the state."""
        raise NotImplementedError(f"{type(self).__name__} must say what one step does")

    def _write(self, read: Tensor) -> Tensor:
        """Turn the input of the output layer (…, ·) into logits (…, V)."""
        raise NotImplementedError(f"{type(self).__name__} must define its logits")


def begin(carried: Carried, attentional_state: Tensor, memory: Memory) -> DecoderState:
    """The state before the first step, from the recurrent state, tensors (B, num_layers, U)."""
    steps = torch.zeros(len(attentional_state), dtype=torch.long, device=attentional_state.device)
    return DecoderState(carried, attentional_state, steps, memory)
