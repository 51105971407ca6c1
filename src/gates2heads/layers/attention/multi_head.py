"""Attention in several heads: project, split, attend in each head, join, project."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    Call,
    accepts,
    boolean_mask,
    flag,
    floats,
    fraction,
    instance,
    natural,
    whole,
)
from gates2heads.layers.attention.heads import head_width, join_heads, split_heads
from gates2heads.layers.attention.kernels import attend_in_heads
from gates2heads.layers.attention.key_values import KeyValues, gather_readers
from gates2heads.layers.positions import rotate
from gates2heads.layers.record import is_recorded

MEMORY = floats("rows num_heads S head_width")
MADE = instance(KeyValues, "as `project` makes")


@accepts(embed_dim=natural, num_heads=natural, dropout=fraction, rotary=flag)
class MultiHeadAttention(nn.Module):
    """Attend in H heads in parallel, each in its own K = D/H dimensions.

    Source: Vaswani et al. 2017, section 3.2.2: softmax(Q Kᵀ / √K) V in each head, concatenated and
    projected. Departs from it in adding biases, as `torch.nn.MultiheadAttention` does. Parameters
    are named and laid out as there (rows of `in_proj_weight`: query, key, value), so
    `load_state_dict` takes its weights. Records `weights` (B, H, T, S) inside a `record` block.

    Args:
        embed_dim: width D of the queries, keys, values and output.
        num_heads: H, which must divide D.
        dropout: the fraction of the attention weights that is set to zero during training.
        rotary: rotate queries and keys by their positions, see `rotate`; for self-attention only.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, *, rotary: bool = False
    ):
        super().__init__()
        head_width(embed_dim, num_heads, rotary=rotary)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.dropout, self.rotary = dropout, rotary
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    @accepts(
        query=floats("B T embed_dim"),
        key=floats("B S embed_dim"),
        value=floats("B S embed_dim"),
        mask=boolean_mask("B num_heads T S"),
        causal=flag,
    )
    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Attend from each query to all keys; without keys, to the queries themselves.

        Args:
            query: (B, T, D) float.
            key: (B, S, D) float; the query if not given.
            value: (B, S, D) float; the key if not given.
            mask: bool, broadcastable to (B, H, T, S); True = may attend. See `masks.key_mask`.
            causal: each query attends only to keys up to its own position; the last to all.

        Returns:
            (B, T, D); where a row may attend to nothing, the output projection of zeros.

        Raises:
            ValueError: the layer is rotary and there are keys, or there is a value without a key.
        """
        if key is None and value is None:
            queries, memory = self._project_all(query)
        else:
            self._check_pair(key)
            queries, memory = self._project_query(query), self._project_pair(key, value)
        context = attend_in_heads(self, queries, *memory, mask=mask, causal=causal)  # (B, H, T, K)
        return self.out_proj(join_heads(context))

    @accepts(key=floats("B S embed_dim"), value=floats("B S embed_dim"))
    def project(self, key: Tensor, value: Tensor | None = None) -> KeyValues:
        """Project key and value (B, S, D) once for all queries, split into heads.

        Raises:
            ValueError: the layer is rotary, whose queries and keys are from one sequence.
        """
        self._check_pair(key)
        return self._project_pair(key, value)

    @accepts(query=floats("B T embed_dim"), memory=MADE, causal=flag, readers=natural)
    def attend(
        self,
        query: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        readers: int = 1,
    ) -> Tensor:
        """Attend from query (B, T, D) to keys and values that were projected before: (B, T, D).

        With `readers` = k, k consecutive rows of the query share one row of the memory, which has
        B/k rows. Their queries are concatenated along time, and the memory is used once for all k.
        So the mask may differ from source to source, but not from query to query.
        """
        self._check_readers(query, memory, readers)
        together = query
        if readers > 1:
            apart = causal or is_recorded(self)  # each row records its own weights
            together, memory, mask = gather_readers(query, memory, mask, readers, apart)
        queries = self._project_query(together)
        context = attend_in_heads(self, queries, *memory, mask=mask, causal=causal)
        return self.out_proj(join_heads(context)).view_as(query)

    @accepts(inputs=floats("B T embed_dim"), past=MADE, order=whole("B"))
    def extend(self, inputs: Tensor, past: KeyValues | None = None, *, order: Tensor | None = None):
        """Causal self-attention for T new positions (B, T, D), after those of the past.

        Args:
            inputs: (B, T, D) float.
            past: from the previous call.
            order: (B,) long, which row of the past each sequence continues; its own if not given.
                Reordering and appending then need only one copy.

        Returns:
            output (B, T, D), and the keys and values with the new ones at the end.
        """
        if past is None:
            queries, memory = self._project_all(inputs)
        else:
            self._check_memory("past", past, len(inputs if order is None else past.keys))
            queries, new = self._project_all(inputs, start=past.keys.shape[2])
            memory = past.append(new, order)  # (B, H, S + T, K)
        context = attend_in_heads(self, queries, *memory, causal=inputs.shape[1] > 1)
        return self.out_proj(join_heads(context)), memory

    def _project_all(self, inputs: Tensor, *, start: int = 0) -> tuple[Tensor, KeyValues]:
        """Queries, keys and values of the same inputs (B, T, D), with positions from `start` on."""
        projected = F.linear(inputs, self.in_proj_weight, self.in_proj_bias)  # (B, T, 3D)
        heads = split_heads(projected, 3 * self.num_heads)  # (B, 3H, T, K)
        if self.rotary:
            both, values = heads.split([2 * self.num_heads, self.num_heads], dim=1)
            queries, keys = rotate(both, start=start).chunk(2, dim=1)
        else:
            queries, keys, values = heads.chunk(3, dim=1)  # (B, H, T, K) each
        return queries, KeyValues(keys, values)

    def _project_query(self, query: Tensor) -> Tensor:
        """Queries alone, (B, T, D) -> (B, H, T, K)."""
        return split_heads(F.linear(query, *self._rows(0, 1)), self.num_heads)

    def _project_pair(self, key: Tensor, value: Tensor | None) -> KeyValues:
        """Keys and values (B, S, D) -> (B, H, S, K) each; of one sequence in one product."""
        if value is None or key is value:
            both = split_heads(F.linear(key, *self._rows(1, 3)), 2 * self.num_heads)
            return KeyValues(*both.chunk(2, dim=1))
        parts = F.linear(key, *self._rows(1, 2)), F.linear(value, *self._rows(2, 3))
        return KeyValues(*(split_heads(part, self.num_heads) for part in parts))

    def _rows(self, first: int, end: int) -> tuple[Tensor, Tensor]:
        """Weight and bias of consecutive projections: query (0), key (1), value (2)."""
        rows = slice(first * self.embed_dim, end * self.embed_dim)
        return self.in_proj_weight[rows], self.in_proj_bias[rows]

    def _check_pair(self, key: Tensor | None) -> None:
        if key is None:
            raise ValueError("key must be given where value is")
        self._check_elsewhere("key")

    def _check_elsewhere(self, name: str) -> None:
        """Reject keys from another sequence: they have no positions in the queries' sequence."""
        if self.rotary:
            raise ValueError(
                f"{name} must be left out of rotary attention, which is self-attention"
            )

    def _check_readers(self, query: Tensor, memory: KeyValues, readers: int) -> None:
        self._check_elsewhere("memory")
        if len(query) % readers:
            raise ValueError(f"readers must divide the batch, got {readers} for {len(query)} rows")
        self._check_memory("memory", memory, len(query) // readers)

    def _check_memory(self, name: str, memory: KeyValues, rows: int) -> None:
        """Reject keys and values (B, H, S, K) that do not match the heads or the batch."""
        width = self.embed_dim // self.num_heads
        call = Call({"self": self, "rows": rows, "head_width": width})
        for part in memory:
            MEMORY.check(name, part, call)
