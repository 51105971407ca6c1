"""Attention in heads, written out: split into heads, compare and average in each, join."""

import math

import torch.nn.functional as F
from torch import Tensor

from gates2heads.checks.tensors import check_width
from gates2heads.layers.attention.checks import check_split, check_triple
from gates2heads.layers.masks import masked_softmax


def split_heads(vectors: Tensor, num_heads: int) -> Tensor:
    """Cut each vector into H pieces of K = D/H numbers, one for each head.

    Args:
        vectors: (B, S, D).
        num_heads: H, which must divide D.

    Returns:
        (B, H, S, K), which shares the vectors' memory.

    Raises:
        TypeError, ValueError: the vectors have not three axes, or H does not divide D.
    """
    check_split(vectors, num_heads)
    batch, length, width = vectors.shape
    heads = vectors.view(batch, length, num_heads, width // num_heads)  # (B, S, D) -> (B, S, H, K)
    return heads.transpose(1, 2)  # (B, S, H, K) -> (B, H, S, K)


def join_heads(heads: Tensor) -> Tensor:
    """Lay the heads' pieces side by side again: what `split_heads` did, undone.

    Args:
        heads: (B, H, S, K).

    Returns:
        (B, S, D), D = H · K.

    Raises:
        TypeError, ValueError: it is no tensor of four axes.
    """
    check_width("heads", heads, None, dims=4)
    return heads.transpose(1, 2).flatten(2)  # (B, H, S, K) -> (B, S, H, K) -> (B, S, D)


def scaled_dot(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None, dropout: float = 0.0
):
    """Average the values, each weighted by how well its key matches the query: softmax(QKᵀ/√K) V.

    Source: Vaswani et al. 2017, section 3.2.1, eq. 1. Departs from it in nothing. Each head, and
    each sequence of a batch, is by itself.

    Args:
        query: (…, T, K) float; the axes before the last two are those of the key.
        key: (…, S, K) float.
        value: (…, S, D) float.
        mask: bool, broadcastable to (…, T, S); True = may attend.
        dropout: how many of the weights are set to zero; 0 except while training.

    Returns:
        context (…, T, D), and weights (…, T, S) before dropout, whose rows sum to 1.

    Raises:
        TypeError, ValueError: they are no float tensors, their shapes do not fit each other, the
            mask is not bool or does not fit, or `dropout` is no share.
    """
    check_triple(query, key, value, dropout)
    scores = query * (1 / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)  # (…, T, S)
    weights = masked_softmax(scores, mask=mask)
    context = F.dropout(weights, dropout) @ value  # (…, T, D)
    return context, weights
