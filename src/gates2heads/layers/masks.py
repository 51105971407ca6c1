"""Masks: bool tensors in which True means "may attend" or "is a real token"."""

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_dense, check_filled, check_mask, check_width
from gates2heads.checks.values import check_count


def masked_softmax(scores: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, among the positions that the mask allows.

    Args:
        scores: (…, S) float.
        mask: bool, broadcastable to the scores; True = may attend.

    Returns:
        weights (…, S): each row sums to 1; a row that may attend to nothing is all zeros.

    Raises:
        TypeError, ValueError: the scores are no floating-point tensor, or the mask is not bool or
            does not fit.
    """
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, Tensor) else type(scores).__name__
        raise TypeError(f"scores must be a floating-point tensor, got {kind}")
    check_dense("scores", scores)
    check_mask(mask, scores.shape, like=scores)
    if mask is None:
        return scores.softmax(dim=-1)
    # The most negative finite number, not -inf: a row of -inf alone would give NaN.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


def causal_mask(queries: int, keys: int | None = None, *, device=None) -> Tensor:
    """Let each query look at its own position and those before it.

    Args:
        queries: T, how many queries.
        keys: S ≥ T, how many keys; T if not given. The last query stands at the last key: the
            S − T keys before the first query come from earlier steps.
        device: where the mask lives.

    Returns:
        (T, S) bool, True = may attend.

    Raises:
        TypeError, ValueError: a count is no whole number or below 1, or there are fewer keys than
            queries.
    """
    check_count("queries", queries)
    keys = queries if keys is None else keys
    check_count("keys", keys, least=queries)
    full = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return full.tril(keys - queries)


def length_mask(lengths: Tensor, size: int | None = None) -> Tensor:
    """Say which positions are real in sequences of these lengths, padded at their ends.

    Args:
        lengths: (B,) integers, each at least 0.
        size: L, the padded length; the longest if not given.

    Returns:
        (B, L) bool, True = a real token.

    Raises:
        TypeError, ValueError: the lengths are no (B,) integer tensor, or exceed the size.
    """
    if not isinstance(lengths, Tensor) or lengths.dtype not in (torch.long, torch.int):
        raise TypeError(f"lengths must be a tensor of integers, got {shown(lengths)}")
    check_filled("lengths", lengths)
    if lengths.dim() != 1 or not len(lengths):
        raise ValueError(f"lengths must have shape (B,), got {tuple(lengths.shape)}")
    longest = int(lengths.max())
    size = longest if size is None else size
    check_count("size", size)
    if int(lengths.min()) < 0 or longest > size:
        raise ValueError(f"lengths must lie between 0 and {size}, got {lengths.tolist()!s:.60}")
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def key_mask(mask: Tensor | None) -> Tensor | None:
    """Turn a mask of real tokens (B, S) into one for attention in heads (B, 1, 1, S).

    Raises:
        TypeError, ValueError: the mask is not bool, or not (B, S).
    """
    if mask is None:
        return None
    check_width("mask", mask, None)
    check_mask(mask, mask.shape)
    return mask[:, None, None]
