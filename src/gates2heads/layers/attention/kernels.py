"""`scaled_dot` by one fused kernel, and the choice between the two implementations.

Tests verify that both give the same output and the same gradients; the choice only affects time and
memory.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import Call, boolean_mask
from gates2heads.layers.attention.heads import scaled_dot
from gates2heads.layers.masks import causal_mask
from gates2heads.layers.record import is_recorded, note

FITS = boolean_mask("batch heads length size")
SHORT = 128  # keys; up to here the explicit product trains faster in half precision on a CPU


def attend_in_heads(
    layer: nn.Module,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    """Compute `scaled_dot` in each head, by the fused kernel unless the weights are needed.

    Args:
        layer: has `dropout`, and notes the `weights` (B, H, T, S) inside a `record` block.
        queries: (B, H, T, K) float.
        keys, values: (B, H, S, K) float.
        mask: bool, broadcastable to (B, H, T, S); True = may attend.
        causal: each query attends only to keys up to its own position; the last to all.

    Returns:
        context (B, H, T, K).

    Raises:
        TypeError, ValueError: the mask does not fit, or `causal` has fewer keys than queries.
    """
    (batch, heads, length, _), size = queries.shape, keys.shape[2]
    if mask is not None:
        sizes = {"batch": batch, "heads": heads, "length": length, "size": size}
        FITS.check("mask", mask, Call(sizes))
    rate = layer.dropout if layer.training else 0.0
    explicit = is_recorded(layer) or explicit_is_faster(queries, size)
    if causal and (mask is not None or length != size or explicit):
        order = causal_mask(length, size, device=queries.device)
        mask, causal = order if mask is None else mask & order, False
    if explicit:
        context, weights = scaled_dot(queries, keys, values, mask=mask, dropout=rate)
        note(layer, weights=weights)
    else:
        context = fused(queries, keys, values, mask=mask, causal=causal, dropout=rate)
    return context


def fused(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """Compute the context of `scaled_dot` in one kernel, which never stores all weights.

    Args:
        queries: (B, H, T, K) float.
        keys, values: (B, H, S, K) float.
        mask: bool, broadcastable to (B, H, T, S); True = may attend.
        causal: each query attends only to keys up to its own position; then T = S, and no mask.
        dropout: the fraction of the attention weights that is set to zero.

    Returns:
        context (B, H, T, K).
    """
    if mask is None:
        return F.scaled_dot_product_attention(
            queries, keys, values, dropout_p=dropout, is_causal=causal
        )
    # A row that may attend to nothing is NaN in some kernels: let it attend to all, then set it to
    # zero.
    nothing = ~mask.any(dim=-1, keepdim=True)
    context = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask | nothing, dropout_p=dropout
    )
    return context.masked_fill(nothing, 0.0)


def explicit_is_faster(queries: Tensor, size: int) -> bool:
    """Whether `scaled_dot` is faster than the kernel, for queries (B, H, T, K) and `size` keys.

    Measured: fused wins at every length, but for short training in half precision on a CPU.
    """
    half = queries.dtype in (torch.bfloat16, torch.float16)
    return half and size <= SHORT and queries.device.type == "cpu" and queries.requires_grad
