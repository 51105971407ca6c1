"""What decoders share that read a token, carry something on, and write."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.layers.recurrent.by_name import Carried
from gates2heads.models.translation.memory import Memory


class DecoderState(NamedTuple):
    """Where a decoder stands; every tensor has the batch first."""

    carried: Carried  # hidden, and the cell of an LSTM; each (B, num_layers, U)
    attentional_state: Tensor  # (B, U) what input feeding hands to the next step; (B, 0) without it
    steps: Tensor  # (B,) long: how many tokens were read
    memory: Memory


class Writer(nn.Module):
    """What these decoders share: a step reads a token, carries something on, and writes.

    Under teacher forcing nothing that is carried on hangs on what was written, so the logits of
    all steps are made at once in the end: one product by the readout instead of one for each.
    """

    state_type = DecoderState
    embedding: nn.Embedding
    dropout: float

    def step(self, state: DecoderState, last_tokens: Tensor):
        """Read last_tokens (B,), return logits (B, V) and the next state."""
        read, state = self._advance(state, self._embed(last_tokens))
        return self._write(read), state

    def force(self, state: DecoderState, target_in: Tensor) -> Tensor:
        """Read target_in (B, T) and return logits (B, T, V)."""
        reads = []
        for vectors in self._embed(target_in).unbind(1):
            read, state = self._advance(state, vectors)
            reads.append(read)
        return self._write(torch.stack(reads, dim=1))

    def _embed(self, tokens: Tensor) -> Tensor:
        return F.dropout(self.embedding(tokens), self.dropout, self.training)

    def _advance(self, state: DecoderState, vectors: Tensor):
        """One step on token vectors (B, E): what the readout reads (B, ·), and the next state."""
        raise NotImplementedError(f"{type(self).__name__} must say what one step does")

    def _write(self, read: Tensor) -> Tensor:
        """Turn what the readout reads (…, ·) into logits (…, V)."""
        raise NotImplementedError(f"{type(self).__name__} must say what it writes")


def begin(carried: Carried, attentional_state: Tensor, memory: Memory) -> DecoderState:
    """The state before the first step, from what is carried (parts of (B, num_layers, U))."""
    steps = torch.zeros(len(attentional_state), dtype=torch.long, device=attentional_state.device)
    return DecoderState(carried, attentional_state, steps, memory)
