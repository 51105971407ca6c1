"""The key-value cache: keys and values of a sequence that many queries attend to."""

from typing import NamedTuple

import torch
from torch import Tensor


class KeyValues(NamedTuple):
    """Keys and values of a sequence, split into heads; computed once for many queries."""

    keys: Tensor  # (B, H, S, K)
    values: Tensor  # (B, H, S, K)

    def append(self, new: "KeyValues", order: Tensor | None = None) -> "KeyValues":
        """Append new keys and values (B, H, T, K): (B, H, S + T, K).

        Args:
            new: of the positions that follow.
            order: (B,) long, which row each sequence continues; its own if not given.
        """
        pairs = zip(self, new, strict=True)
        return KeyValues(*(_append(past, added, order) for past, added in pairs))

    def repeat(self, times: int) -> "KeyValues":
        """Each row repeated consecutively: (B · times, H, S, K)."""
        return KeyValues(*(part.repeat_interleave(times, dim=0) for part in self))


def gather_readers(
    query: Tensor, memory: KeyValues, mask: Tensor | None, readers: int, apart: bool
):
    """Give query and memory the same batch, where `readers` = k consecutive queries share a row.

    Args:
        query: (B, T, D).
        memory: of B/k rows.
        mask: bool, broadcastable to (B/k, H, T, S), and the same for all queries of a row if these
            are concatenated; or None.
        readers: k.
        apart: each query gets its own copy of the memory; otherwise the k queries are concatenated
            along time as one sequence, and the memory is used once for all.

    Returns:
        query (B, T, D), memory of B rows and mask; or query (B/k, k · T, D), and the rest as it is.
    """
    if not apart:
        return query.reshape(len(query) // readers, -1, query.shape[2]), memory, mask
    if mask is not None and mask.dim() == 4 and len(mask) > 1:
        mask = mask.repeat_interleave(readers, dim=0)
    return query, memory.repeat(readers), mask


def _append(past: Tensor, new: Tensor, order: Tensor | None) -> Tensor:
    """The rows `order` of the past (·, H, S, K), with the new (B, H, T, K) at their end."""
    # In memory time comes first, so that the new entries are contiguous, after the copied ones.
    past, new = past.permute(2, 0, 1, 3), new.permute(2, 0, 1, 3)
    if order is None:
        joined = torch.cat([past, new])
    elif torch.is_grad_enabled() or past.dtype != new.dtype:
        joined = torch.cat([past.index_select(1, order), new])
    else:
        size = len(past)
        joined = new.new_empty(size + len(new), *new.shape[1:])
        torch.index_select(past, 1, order, out=joined[:size])
        joined[size:] = new
    return joined.permute(1, 2, 0, 3)
