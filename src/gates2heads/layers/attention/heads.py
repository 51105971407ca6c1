"""Multi-head attention step by step: split into heads, score and average in each, join."""

import math

import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, anything, boolean_mask, flag, floats, fraction, natural
from gates2heads.layers.masks import masked_softmax


@accepts(vectors=anything("B S D"), num_heads=natural)
def split_heads(vectors: Tensor, num_heads: int) -> Tensor:
    """Split each vector into H pieces of width K = D/H, one for each head.

    Args:
        vectors: (B, S, D).
        num_heads: H, which must divide D.

    Returns:
        (B, H, S, K), which shares the vectors' memory.

    Raises:
        ValueError: H does not divide D.
    """
    _check_split(vectors, num_heads)
    batch, length, width = vectors.shape
    heads = vectors.view(batch, length, num_heads, width // num_heads)  # (B, S, D) -> (B, S, H, K)
    return heads.transpose(1, 2)  # (B, S, H, K) -> (B, H, S, K)


@accepts(heads=anything("B H S K"))
def join_heads(heads: Tensor) -> Tensor:
    """Concatenate the heads: the inverse of `split_heads`.

    Args:
        heads: (B, H, S, K).

    Returns:
        (B, S, D), D = H · K.
    """
    return heads.transpose(1, 2).flatten(2)  # (B, H, S, K) -> (B, S, H, K) -> (B, S, D)


@accepts(
    query=floats("… T K"),
    key=floats("… S K"),
    value=floats("… S D"),
    mask=boolean_mask("… T S"),
    dropout=fraction,
)
def scaled_dot(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None, dropout: float = 0.0
):
    """Average the values, each weighted by how well its key matches the query: softmax(QKᵀ/√K) V.

    Source: Vaswani et al. 2017, section 3.2.1, eq. 1. Departs from it in nothing. Heads and
    sequences of a batch are independent.

    Args:
        query: (…, T, K) float; the axes before the last two are those of the key.
        key: (…, S, K) float.
        value: (…, S, D) float.
        mask: bool, broadcastable to (…, T, S); True = may attend.
        dropout: the fraction of the attention weights that is set to zero; 0 except while training.

    Returns:
        context (…, T, D), and weights (…, T, S) before dropout, whose rows sum to 1.
    """
    scores = query * (1 / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)  # (…, T, S)
    weights = masked_softmax(scores, mask=mask)
    context = F.dropout(weights, dropout) @ value  # (…, T, D)
    return context, weights


def _check_split(vectors: Tensor, num_heads: int) -> None:
    if vectors.shape[2] % num_heads:
        raise ValueError(
            f"num_heads must divide the width of the vectors, got {num_heads} heads for a width "
            f"of {vectors.shape[2]}"
        )


@accepts(embed_dim=natural, num_heads=natural, rotary=flag)
def head_width(embed_dim: int, num_heads: int, *, rotary: bool = False) -> int:
    """Return K = D/H, the width of each head of a layer.

    Args:
        embed_dim: width D of the layer.
        num_heads: H, which must divide D.
        rotary: queries and keys are rotated in planes of two dimensions.

    Raises:
        ValueError: H does not divide D, or the width is odd and rotary.
    """
    if embed_dim % num_heads:
        raise ValueError(
            f"num_heads must divide embed_dim, got {num_heads} heads for a width of {embed_dim}"
        )
    width = embed_dim // num_heads
    if rotary and width % 2:
        raise ValueError(f"rotary needs heads of an even width, got {width} dimensions each")
    return width
