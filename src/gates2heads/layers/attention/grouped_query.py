"""Causal self-attention whose query heads share keys and values in groups."""

import torch
from torch import Tensor, nn

from gates2heads.accepts import (
    Call,
    accepts,
    boolean_mask,
    flag,
    floats,
    instance,
    maybe,
    natural,
    positive,
)
from gates2heads.layers.attention.heads import head_width, join_heads, split_heads
from gates2heads.layers.attention.kernels import attend_in_heads
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.masks import causal_mask
from gates2heads.layers.positions import BASE, rotate

CACHED = floats("rows num_key_value_heads S head_width")


@accepts(
    embed_dim=natural,
    num_heads=natural,
    num_key_value_heads=maybe(natural),
    rotary=flag,
    rotary_base=positive,
    bias=flag,
    window=maybe(natural),
)
class GroupedQueryAttention(nn.Module):
    """Causal self-attention in H query heads that share G heads of keys and values.

    Source: Ainslie et al. 2023, section 2.2. With G = H it is multi-head attention, with G = 1
    multi-query attention (Shazeer 2019). The parameters are named as in Llama, except for
    `out_proj`. Records `weights` (B, H, T, S) inside a `record` block.

    Args:
        embed_dim: width D of the input and output.
        num_heads: H, which must divide D.
        num_key_value_heads: G, which must divide H; H if not given.
        rotary: rotate queries and keys by their positions; see `rotate`.
        rotary_base: of the angles.
        bias: whether the four projections have biases.
        window: a query attends to its own position and the window − 1 positions before it
            (sliding-window attention, Child et al. 2019; Jiang et al. 2023); all if not given.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        num_key_value_heads: int | None = None,
        *,
        rotary: bool = False,
        rotary_base: float = BASE,
        bias: bool = True,
        window: int | None = None,
    ):
        super().__init__()
        groups = num_heads if num_key_value_heads is None else num_key_value_heads
        self.head_width = head_width(embed_dim, num_heads, rotary=rotary)
        if num_heads % groups:
            raise ValueError(
                f"num_key_value_heads must divide num_heads, got {groups} for {num_heads} heads"
            )
        self.embed_dim, self.num_heads, self.num_key_value_heads = embed_dim, num_heads, groups
        self.rotary, self.window, self.dropout = rotary, window, 0.0
        self.rotary_base = rotary_base
        shared = groups * self.head_width
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, shared, bias=bias)
        self.v_proj = nn.Linear(embed_dim, shared, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    @accepts(inputs=floats("B T embed_dim"), mask=boolean_mask("B num_heads T T"))
    def forward(self, inputs: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Transform inputs (B, T, D), all positions in parallel.

        Args:
            inputs: (B, T, D) float.
            mask: bool, broadcastable to (B, H, T, T), True = may attend, in place of the causal
                mask and the window; see `masks.prefix_mask`.

        Returns:
            (B, T, D).
        """
        queries, memory = self._project(inputs, start=0)
        if mask is None:
            mask = self._window_mask(inputs.shape[1], inputs.shape[1], inputs.device)
            return self._attend(queries, memory, mask=mask, causal=mask is None)
        return self._attend(queries, memory, mask=mask)

    @accepts(
        inputs=floats("B T embed_dim"),
        past=instance(KeyValues, "from the call before"),
        start=natural(least=0),
    )
    def extend(self, inputs: Tensor, past: KeyValues | None = None, *, start: int = 0):
        """Transform T new positions (B, T, D), which attend to the cache and to each other.

        Args:
            inputs: (B, T, D) float.
            past: the cache, from the call before.
            start: the position of the first input, for the rotation.

        Returns:
            output (B, T, D), and the cache with the new keys and values, rotated, at its end; with
            a window, only the last window − 1 of them, which is all that a later query can see.
        """
        queries, memory = self._project(inputs, start=start)
        if past is not None:
            sizes = {"rows": len(inputs), "head_width": self.head_width}
            for part in past:
                CACHED.check("past", part, Call({"self": self, **sizes}))
            memory = past.append(memory)
        length, size = queries.shape[2], memory.keys.shape[2]
        mask = self._window_mask(length, size, inputs.device)
        output = self._attend(queries, memory, mask=mask, causal=mask is None and length > 1)
        if self.window is not None:
            first = max(0, size - self.window + 1)
            memory = KeyValues(*(part[:, :, first:] for part in memory))
        return output, memory

    def _project(self, inputs: Tensor, *, start: int) -> tuple[Tensor, KeyValues]:
        """Queries (B, H, T, K), and keys and values (B, G, T, K)."""
        queries = split_heads(self.q_proj(inputs), self.num_heads)
        keys = split_heads(self.k_proj(inputs), self.num_key_value_heads)
        values = split_heads(self.v_proj(inputs), self.num_key_value_heads)
        if self.rotary:
            queries, keys = (
                rotate(part, start=start, base=self.rotary_base) for part in (queries, keys)
            )
        return queries, KeyValues(keys, values)

    def _attend(self, queries: Tensor, memory: KeyValues, **how) -> Tensor:
        """Each group of H / G query heads reads the same keys and values."""
        times = self.num_heads // self.num_key_value_heads
        keys, values = (part.repeat_interleave(times, dim=1) for part in memory)  # (B, H, S, K)
        return self.out_proj(join_heads(attend_in_heads(self, queries, keys, values, **how)))

    def _window_mask(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """(T, S) bool, or None where no window limits anything."""
        if self.window is None or keys <= self.window:
            return None
        causal = causal_mask(queries, keys, device=device)
        return causal & ~causal.tril(keys - queries - self.window)
