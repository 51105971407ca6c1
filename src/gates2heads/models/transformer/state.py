"""The state of a Transformer decoder: cached source and target, and the order of sequences."""

from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.layers.attention.key_values import KeyValues


class TransformerState(NamedTuple):
    """The state of B sequences between two steps; every tensor has the batch first.

    A beam search reorders the sequences at each step, and several of them share the same source. To
    avoid copies, the state stores the order until the past next grows, and k consecutive sequences
    share the same source.
    """

    past: tuple[KeyValues, ...]  # one per layer, (·, H, t, K): the target, not yet in order
    memory: tuple[KeyValues, ...]  # one per layer, (B/k, H, S, K): the source, computed once
    mask: Tensor  # (B/k, S) bool, True = a real token
    order: Tensor | None = None  # (B,) long, the row of the past of each sequence; None: its own
    readers: int = 1  # k, how many consecutive sequences share the same source

    @property
    def size(self) -> int:
        """B, the number of sequences."""
        return len(self.mask) * self.readers

    def select_rows(self, rows: Tensor) -> "TransformerState":
        """The state whose sequence i is sequence `rows[i]` of this one, (R,) long."""
        rows = rows.to(self.mask.device)
        order = rows if self.order is None else self.order[rows]
        sources, readers = rows // self.readers, 1
        if torch.equal(sources, torch.arange(self.size, device=rows.device) // self.readers):
            return self._replace(order=order)
        groups, counts = sources.unique_consecutive(return_counts=True)
        if len(groups) and bool((counts == counts[0]).all()):
            sources, readers = groups, len(rows) // len(groups)
        memory = tuple(KeyValues(*(part[sources] for part in layer)) for layer in self.memory)
        return TransformerState(self.past, memory, self.mask[sources], order, readers)
