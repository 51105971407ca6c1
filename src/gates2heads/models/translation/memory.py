"""The encoded source, and attention to it."""

from typing import NamedTuple

from torch import Tensor

from gates2heads.layers.attention.local import LocalAttention
from gates2heads.layers.attention.single_head import Attention


class Memory(NamedTuple):
    """The encoder's output, which the decoder receives."""

    states: Tensor  # (B, S, U): forward and backward state at each source position
    keys: Tensor  # (B, S, ·): the states, projected for the score function once
    mask: Tensor  # (B, S) bool, True = a real token
    summary: Tensor  # (B, U): the last state of both directions


def look(attention: Attention, hidden: Tensor, memory: Memory, steps: Tensor | int = 0) -> Tensor:
    """Attend from hidden (B, U) to the source: the context (B, U).

    Monotonic local attention receives the step, (B,) long, from 0.
    """
    where = {"start": steps} if isinstance(attention, LocalAttention) else {}
    context, _ = attention(
        hidden[:, None],  # (B, U) -> (B, 1, U)
        memory.keys,
        memory.states,
        mask=memory.mask[:, None],  # (B, S) -> (B, 1, S)
        projected=True,
        **where,
    )
    return context[:, 0]
