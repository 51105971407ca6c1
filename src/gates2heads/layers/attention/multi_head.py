"""Self-attention without parameters, and attention in several heads."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.checks.shown import shown
from gates2heads.checks.tensors import check_dtypes, check_mask, check_width
from gates2heads.checks.values import check_count, check_flag, check_share
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.masks import causal_mask, masked_softmax
from gates2heads.layers.positions import rotate
from gates2heads.layers.record import is_recorded, note

SHORT = 128  # keys; up to here the explicit product trains faster in half precision on a CPU


def self_attention(inputs: Tensor, *, mask: Tensor | None = None):
    """Average the inputs, each row by its likeness to the others: softmax(X Xᵀ) X.

    Nothing is learned: query, key and value are all the input itself.

    Args:
        inputs: (B, S, D) float.
        mask: bool, broadcastable to (B, S, S); True = may attend.

    Returns:
        context (B, S, D), and weights (B, S, S) whose rows sum to 1.

    Raises:
        TypeError, ValueError: the inputs are no float tensor of three axes, or the mask does not
            fit.
    """
    check_width("inputs", inputs, None, dims=3)
    if not inputs.is_floating_point():
        raise TypeError(f"inputs must hold floating-point numbers, got {inputs.dtype}")
    weights = masked_softmax(inputs @ inputs.transpose(1, 2), mask=mask)  # (B, S, S)
    return weights @ inputs, weights


class MultiHeadAttention(nn.Module):
    """Attend in H heads at once, each in its own K = D/H dimensions.

    Source: Vaswani et al. 2017, section 3.2.2: softmax(Q Kᵀ / √K) V in each head, concatenated and
    projected. Departs from it in adding biases, as `torch.nn.MultiheadAttention` does. Parameters
    are named and laid out as there (rows of `in_proj_weight`: query, key, value), so
    `load_state_dict` takes its weights. Notes `weights` (B, H, T, S) when somebody records.

    Args:
        embed_dim: width D of the queries, keys, values and output.
        num_heads: H, which must divide D.
        dropout: how many of the weights are set to zero while training.
        rotary: turn queries and keys by their positions, see `rotate`; for self-attention alone.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, *, rotary: bool = False
    ):
        super().__init__()
        check_count("embed_dim", embed_dim)
        check_count("num_heads", num_heads)
        check_share("dropout", dropout)
        if embed_dim % num_heads:
            raise ValueError(
                f"num_heads must divide embed_dim, got {num_heads} heads for a width of {embed_dim}"
            )
        check_flag("rotary", rotary)
        if rotary and embed_dim // num_heads % 2:
            raise ValueError(
                f"rotary needs heads of an even width, got {embed_dim // num_heads} dimensions each"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.dropout, self.rotary = dropout, rotary
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

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
            causal: each query sees only keys up to its own position; the last sees all.

        Returns:
            (B, T, D); zeros went through the last projection where a row may attend to nothing.

        Raises:
            TypeError, ValueError: a width, length or dtype differs, or the mask does not fit.
        """
        check_width("query", query, self.embed_dim, dims=3)
        if key is None and value is None:
            check_dtypes(self, query=query)
            return self._attend(*self._project_all(query), mask, causal)
        memory = self.project(key, value)
        if len(query) != len(memory.keys):
            raise ValueError(
                f"query and key must agree in batch, got {len(query)} and {len(key)} rows"
            )
        return self.attend(query, memory, mask=mask, causal=causal)

    def project(self, key: Tensor, value: Tensor | None = None) -> KeyValues:
        """What all queries will read of key and value (B, S, D), split into heads.

        Raises:
            TypeError, ValueError: as `forward`; also if `rotary`, whose queries and keys stand in
                one sequence.
        """
        self._refuse_if_rotary("key")
        value = key if value is None else value
        check_width("key", key, self.embed_dim, dims=3)
        check_width("value", value, self.embed_dim, dims=3)
        check_dtypes(self, key=key, value=value)
        if key.shape != value.shape:
            raise ValueError(
                "key and value must agree in batch and length, got "
                f"{tuple(key.shape)} and {tuple(value.shape)}"
            )
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if key is value:
            width = self.embed_dim
            both = F.linear(key, weight[width:], bias[width:]).chunk(2, dim=-1)
        else:
            both = (F.linear(key, *self._rows(1)), F.linear(value, *self._rows(2)))
        return KeyValues(*map(self._split, both))

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

        With `readers` = k, k rows of the query in a row read the same row of the memory, which
        has B/k. Their queries stand side by side, and the memory is read once for all k. So the
        mask may differ from source to source, but not from query to query.
        """
        check_width("query", query, self.embed_dim, dims=3)
        check_dtypes(self, query=query)
        self._refuse_if_rotary("memory")
        check_count("readers", readers)
        if readers > 1 and (not len(query) or len(query) % readers):
            raise ValueError(f"readers must divide the batch, got {readers} for {len(query)} rows")
        self._check_memory("memory", memory, len(query) // readers)
        together = query
        if readers > 1 and (causal or is_recorded(self)):  # each row notes its own weights
            memory = memory.repeat(readers)
            if mask is not None and mask.dim() == 4 and len(mask) > 1:
                mask = mask.repeat_interleave(readers, dim=0)
        elif readers > 1:
            together = query.reshape(len(query) // readers, -1, self.embed_dim)  # (B/k, k·T, D)
        queries = self._split(F.linear(together, *self._rows(0)))
        return self._attend(queries, memory, mask, causal).view_as(query)

    def extend(self, inputs: Tensor, past: KeyValues | None = None, *, order: Tensor | None = None):
        """Causal self-attention for T new positions (B, T, D), after those of the past.

        Args:
            inputs: (B, T, D) float.
            past: from the call before.
            order: (B,) long, which row of the past each sequence goes on from; its own if not
                given. To order and to append is then one copy.

        Returns:
            output (B, T, D), and the keys and values with the new ones at the end.
        """
        check_width("inputs", inputs, self.embed_dim, dims=3)
        check_dtypes(self, inputs=inputs)
        if past is None:
            queries, memory = self._project_all(inputs)
        else:
            self._check_memory("past", past, len(inputs) if order is None else None)
            queries, memory = self._project_all(inputs, start=past.keys.shape[2])
            _check_order(order, len(inputs), len(past.keys))
            memory = past.append(memory, order)  # (B, H, S + T, K)
        return self._attend(queries, memory, None, inputs.shape[1] > 1), memory

    def _project_all(self, inputs: Tensor, *, start: int = 0) -> tuple[Tensor, KeyValues]:
        """Queries, keys and values of the same inputs (B, T, D), which stand from `start` on."""
        projected = F.linear(inputs, self.in_proj_weight, self.in_proj_bias)  # (B, T, 3D)
        both, values = map(self._split, projected.split([2 * self.embed_dim, self.embed_dim], -1))
        if self.rotary:
            both = rotate(both, start=start)
        queries, keys = both.chunk(2, dim=1)  # (B, 2H, T, K) -> (B, H, T, K) each
        return queries, KeyValues(keys, values)

    def _refuse_if_rotary(self, name: str) -> None:
        """Refuse keys from elsewhere: they stand at no position of the queries' sequence."""
        if self.rotary:
            raise ValueError(
                f"{name} must be left out of rotary attention, which is self-attention"
            )

    def _check_memory(self, name: str, memory: KeyValues, batch: int | None) -> None:
        """Refuse keys and values that do not fit these heads, or have not `batch` rows."""
        if not isinstance(memory, KeyValues):
            raise TypeError(f"{name} must be KeyValues, as `project` makes, got {shown(memory)}")
        heads, width = self.num_heads, self.embed_dim // self.num_heads
        for tensor in memory:
            batch = len(tensor) if batch is None else batch
            shape = tuple(tensor.shape)
            if (*shape[:2], *shape[3:]) != (batch, heads, width):
                raise ValueError(
                    f"{name} must hold keys and values of shape ({batch}, {heads}, S, {width}), "
                    f"got {shape}"
                )

    def _rows(self, part: int):
        """The weight and bias of the query (0), key (1) or value (2) projection."""
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        return self.in_proj_weight[rows], self.in_proj_bias[rows]

    def _split(self, vectors: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, H, K) -> (B, H, S, K); H may be that of several side by side."""
        width = self.embed_dim // self.num_heads
        heads = vectors.shape[2] // width
        return vectors.view(*vectors.shape[:2], heads, width).transpose(1, 2)

    def _attend(self, queries: Tensor, memory: KeyValues, mask: Tensor | None, causal: bool):
        """From queries (B, H, T, K) to the output (B, T, D), by the path that fits."""
        length, size = queries.shape[2], memory.keys.shape[2]
        check_mask(mask, (len(queries), self.num_heads, length, size))
        explicit = is_recorded(self) or _explicit_is_faster(queries, size)
        if causal and (mask is not None or length != size or explicit):
            order = causal_mask(length, size, device=queries.device)
            mask, causal = order if mask is None else mask & order, False
        if explicit:
            context = self._explicit(queries, *memory, mask)
        else:
            context = self._fused(queries, *memory, mask, causal)
        # (B, H, T, K) -> (B, T, H, K) -> (B, T, D): the heads side by side
        return self.out_proj(context.transpose(1, 2).flatten(2))

    def _explicit(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None):
        """Write the weights out, so that they can be noted."""
        scale = 1 / math.sqrt(queries.shape[-1])
        scores = queries * scale @ keys.transpose(2, 3)  # (B, H, T, S)
        weights = masked_softmax(scores, mask=mask)
        note(self, weights=weights)
        return F.dropout(weights, self.dropout, self.training).type_as(values) @ values

    def _fused(self, queries, keys, values, mask: Tensor | None, causal: bool):
        """The same in one kernel, which never holds all (T, S) weights at once."""
        rate = self.dropout if self.training else 0.0
        if mask is None:
            return F.scaled_dot_product_attention(
                queries, keys, values, dropout_p=rate, is_causal=causal
            )
        # A row that may attend to nothing is NaN in some kernels: let it see all, then erase it.
        nothing = ~mask.any(dim=-1, keepdim=True)
        context = F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask | nothing, dropout_p=rate
        )
        return context.masked_fill(nothing, 0.0)


def _check_order(order: Tensor | None, batch: int, rows: int) -> None:
    """Refuse an order that does not name one of the past's rows for each sequence."""
    if order is None:
        return
    if not isinstance(order, Tensor) or order.dtype != torch.long:
        kind = order.dtype if isinstance(order, Tensor) else type(order).__name__
        raise TypeError(f"order must be a torch.long tensor of rows, got {kind}")
    if order.shape != (batch,):
        raise ValueError(
            f"order must have shape ({batch},), a row a sequence, got {tuple(order.shape)}"
        )
    if order.device.type == "cpu":  # elsewhere, to look would be to wait for the device
        low, high = order.aminmax() if batch else (0, 0)
        if low < 0 or high >= rows:
            raise ValueError(f"order must hold rows 0 to {rows - 1}, got {order.tolist()!s:.60}")


def _explicit_is_faster(queries: Tensor, size: int) -> bool:
    """Measured: fused wins at every length, but for short training in half precision on a CPU."""
    half = queries.dtype in (torch.bfloat16, torch.float16)
    return half and size <= SHORT and queries.device.type == "cpu" and queries.requires_grad
