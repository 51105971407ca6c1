"""What attention refuses: tensors that do not fit each other, the heads, or what was kept."""

import torch
from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import (
    check_dense,
    check_device,
    check_dtypes,
    check_floats,
    check_width,
)
from gates2heads.checks.values import check_count, check_flag, check_share
from gates2heads.layers.attention.key_values import KeyValues


def check_score(score: nn.Module) -> None:
    """Refuse what is no score module.

    Raises:
        TypeError: with a sentence that shows it.
    """
    if not isinstance(score, nn.Module) or not hasattr(score, "query_size"):
        raise TypeError(f"score must be a score module, got {shown(score)}")


def check_attended(
    layer: nn.Module, query: Tensor, keys: Tensor, values: Tensor, *, projected: bool
) -> None:
    """Refuse query (B, T, Q), keys (B, S, K) and values (B, S, D) that one head cannot read.

    Args:
        layer: has a `score`, which says how wide query and keys are.
        query, keys, values: as above.
        projected: the keys went through `project_keys`, and have whatever shape that gives.

    Raises:
        TypeError, ValueError: widths, lengths or dtypes differ.
    """
    check_width("query", query, layer.score.query_size, dims=3)
    check_width("keys", keys, None if projected else layer.score.key_size, dims=3)
    check_width("values", values, None, dims=3)
    check_dtypes(layer, query=query, keys=keys, values=values)
    if keys.shape[:2] != values.shape[:2] or len(query) != len(keys):
        raise ValueError(
            "query, keys and values must agree in batch, keys and values also in length; got "
            f"{tuple(query.shape)}, {tuple(keys.shape)} and {tuple(values.shape)}"
        )


def check_start(start: int | Tensor, batch: int) -> None:
    """Refuse what is no step to begin at: a whole number, or one for each sequence, (B,).

    Raises:
        TypeError, ValueError: it is neither.
    """
    if not isinstance(start, Tensor):
        check_count("start", start, least=0)
    elif start.shape != (batch,) or start.is_floating_point():
        raise ValueError(
            f"start must hold integers of shape ({batch},), got {start.dtype} of shape "
            f"{tuple(start.shape)}"
        )
    else:
        check_dense("start", start)


def check_split(vectors: Tensor, num_heads: int) -> None:
    """Refuse vectors (B, S, D) that H heads cannot share evenly.

    Raises:
        TypeError, ValueError: they have not three axes, or H does not divide D.
    """
    check_width("vectors", vectors, None, dims=3)
    check_count("num_heads", num_heads)
    if vectors.shape[2] % num_heads:
        raise ValueError(
            f"num_heads must divide the width of the vectors, got {num_heads} heads for a width "
            f"of {vectors.shape[2]}"
        )


def check_triple(query: Tensor, key: Tensor, value: Tensor, dropout: float) -> None:
    """Refuse query (…, T, K), key (…, S, K) and value (…, S, D) that do not fit each other.

    Raises:
        TypeError, ValueError: they are no float tensors of one dtype, or their shapes differ
            where they should not; or `dropout` is no share.
    """
    check_share("dropout", dropout)
    tensors = {"query": query, "key": key, "value": value}
    for name, tensor in tensors.items():
        check_width(name, tensor, None, dims=max(2, getattr(query, "ndim", 2)))
        check_floats(name, tensor)
    dtypes = [tensor.dtype for tensor in tensors.values()]
    if len(set(dtypes)) > 1 and not torch.is_autocast_enabled(query.device.type):
        raise TypeError("query, key and value must be of one dtype, got {}, {}, {}".format(*dtypes))
    check_device(query, **tensors)
    shapes = [tuple(tensor.shape) for tensor in tensors.values()]
    (*axes, _, width), (*key_axes, size, key_width), (*value_axes, value_size, _) = shapes
    if not axes == key_axes == value_axes or width != key_width or size != value_size or not width:
        raise ValueError(
            "query, key and value must have shapes (…, T, K), (…, S, K) and (…, S, D), got "
            f"{shapes[0]}, {shapes[1]} and {shapes[2]}"
        )


def check_heads(embed_dim: int, num_heads: int, dropout: float, rotary: bool) -> None:
    """Refuse sizes that no attention in heads can have.

    Raises:
        TypeError, ValueError: one of them is no count or share, or H does not divide D, or does
            not leave an even width to turn in planes.
    """
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


def check_inputs(layer: nn.Module, query: Tensor, key: Tensor | None, value: Tensor | None) -> None:
    """Refuse query (B, T, D), key and value (B, S, D) that attention in heads cannot read.

    Raises:
        TypeError, ValueError: a width, length or dtype differs, or the layer is rotary and there
            are keys.
    """
    check_width("query", query, layer.embed_dim, dims=3)
    if key is not None or value is not None:
        check_pair(layer, key, value)
        if len(query) != len(key):
            raise ValueError(
                f"query and key must agree in batch, got {len(query)} and {len(key)} rows"
            )
    check_dtypes(layer, query=query)


def check_pair(layer: nn.Module, key: Tensor, value: Tensor | None) -> None:
    """Refuse key and value (B, S, D) that attention in heads cannot keep.

    Raises:
        TypeError, ValueError: a width, length or dtype differs, or the layer is rotary.
    """
    refuse_if_rotary(layer, "key")
    value = key if value is None else value
    check_width("key", key, layer.embed_dim, dims=3)
    check_width("value", value, layer.embed_dim, dims=3)
    check_dtypes(layer, key=key, value=value)
    if key.shape != value.shape:
        raise ValueError(
            "key and value must agree in batch and length, got "
            f"{tuple(key.shape)} and {tuple(value.shape)}"
        )


def check_readers(layer: nn.Module, query: Tensor, memory: KeyValues, readers: int) -> None:
    """Refuse query (B, T, D) of which `readers` rows in a row cannot read a row of the memory.

    Raises:
        TypeError, ValueError: the query or the memory does not fit the layer, the layer is
            rotary, or `readers` does not divide B.
    """
    check_width("query", query, layer.embed_dim, dims=3)
    check_dtypes(layer, query=query)
    refuse_if_rotary(layer, "memory")
    check_count("readers", readers)
    if readers > 1 and (not len(query) or len(query) % readers):
        raise ValueError(f"readers must divide the batch, got {readers} for {len(query)} rows")
    check_memory("memory", memory, layer, len(query) // readers)


def check_past(
    layer: nn.Module, inputs: Tensor, past: KeyValues | None, order: Tensor | None
) -> None:
    """Refuse inputs (B, T, D) that cannot go on from the rows `order` (B,) of the past.

    Raises:
        TypeError, ValueError: the inputs or the past do not fit the layer, or the order does not
            name one of the past's rows for each sequence.
    """
    check_width("inputs", inputs, layer.embed_dim, dims=3)
    check_dtypes(layer, inputs=inputs)
    if past is None:
        return
    check_memory("past", past, layer, len(inputs) if order is None else None)
    if order is not None:
        check_order(order, len(inputs), len(past.keys))


def check_memory(name: str, memory: KeyValues, layer: nn.Module, batch: int | None) -> None:
    """Refuse keys and values (B, H, S, K) that do not fit the heads, or have not `batch` rows.

    Raises:
        TypeError: they are no `KeyValues`.
        ValueError: they have another shape.
    """
    if not isinstance(memory, KeyValues):
        raise TypeError(f"{name} must be KeyValues, as `project` makes, got {shown(memory)}")
    heads, width = layer.num_heads, layer.embed_dim // layer.num_heads
    for tensor in memory:
        check_width(name, tensor, width, dims=4)
        check_dtypes(layer, **{name: tensor})
        batch = len(tensor) if batch is None else batch
        shape = tuple(tensor.shape)
        if (*shape[:2], *shape[3:]) != (batch, heads, width):
            raise ValueError(
                f"{name} must hold keys and values of shape ({batch}, {heads}, S, {width}), "
                f"got {shape}"
            )


def check_order(order: Tensor, batch: int, rows: int) -> None:
    """Refuse an order that does not name one of the past's rows for each sequence: (B,) long.

    Raises:
        TypeError: it is no tensor of long integers.
        ValueError: it has another shape, or names a row that is not there.
    """
    if not isinstance(order, Tensor) or order.dtype != torch.long:
        kind = order.dtype if isinstance(order, Tensor) else type(order).__name__
        raise TypeError(f"order must be a torch.long tensor of rows, got {kind}")
    check_dense("order", order)
    if order.shape != (batch,):
        raise ValueError(
            f"order must have shape ({batch},), a row a sequence, got {tuple(order.shape)}"
        )
    if order.device.type == "cpu":  # elsewhere, to look would be to wait for the device
        low, high = order.aminmax() if batch else (0, 0)
        if low < 0 or high >= rows:
            raise ValueError(f"order must hold rows 0 to {rows - 1}, got {order.tolist()!s:.60}")


def refuse_if_rotary(layer: nn.Module, name: str) -> None:
    """Refuse keys from elsewhere: they stand at no position of the queries' sequence.

    Raises:
        ValueError: the layer is rotary; the sentence names the argument.
    """
    if layer.rotary:
        raise ValueError(f"{name} must be left out of rotary attention, which is self-attention")
