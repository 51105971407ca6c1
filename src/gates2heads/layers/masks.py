"""Masks: bool tensors in which True means "may attend" or "is a real token"."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, bools, floats, maybe, natural, whole
from gates2heads.accepts.shown import shown


@accepts(scores=floats("… S"), mask=boolean_mask("… S"))
def masked_softmax(scores: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, among the positions that the mask allows.

    Args:
        scores: (…, S) float.
        mask: bool, broadcastable to the scores; True = may attend.

    Returns:
        weights (…, S): each row sums to 1; a row that may attend to nothing is all zeros.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    # The most negative finite number, not -inf: a row of -inf alone would give NaN.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


@accepts(queries=natural, keys=natural)
def causal_mask(queries: int, keys: int | None = None, *, device=None) -> Tensor:
    """Let each query attend to its own position and the preceding ones.

    Args:
        queries: T, how many queries.
        keys: S ≥ T, how many keys; T if not given. The last query is at the last key: the
            S − T keys before the first query come from earlier steps.
        device: the device of the mask.

    Returns:
        (T, S) bool, True = may attend.

    Raises:
        ValueError: there are fewer keys than queries.
    """
    keys = queries if keys is None else keys
    if keys < queries:
        raise ValueError(f"keys must be at least {queries}, the number of queries, got {keys}")
    full = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return full.tril(keys - queries)


@accepts(lengths=whole("B", empty=False), size=natural)
def prefix_mask(lengths: Tensor, size: int) -> Tensor:
    """Let all positions of a prefix attend to each other, and the others to preceding ones.

    Source: Raffel et al. 2020, section 3.2.1, figure 4 (causal with prefix); Liu et al. 2018.

    Args:
        lengths: (B,) integers, how many tokens belong to each prefix.
        size: T, queries and keys.

    Returns:
        (B, 1, T, T) bool, True = may attend.

    Raises:
        ValueError: a length is negative, or exceeds the size.
    """
    prefix = length_mask(lengths, size)  # (B, T), True = in the prefix
    causal = causal_mask(size, device=lengths.device)  # (T, T)
    return (causal | prefix[:, None, :])[:, None]


@accepts(lengths=whole("B", empty=False), size=natural)
def length_mask(lengths: Tensor, size: int | None = None) -> Tensor:
    """Mark the real positions of sequences of these lengths, padded at their ends.

    Args:
        lengths: (B,) integers, each at least 0.
        size: L, the padded length; the longest if not given.

    Returns:
        (B, L) bool, True = a real token.

    Raises:
        ValueError: a length is negative, or exceeds the size.
    """
    longest = int(lengths.max())
    size = longest if size is None else size
    if int(lengths.min()) < 0 or longest > size:
        raise ValueError(f"lengths must lie between 0 and {size}, got {shown(lengths.tolist())}")
    return torch.arange(size, device=lengths.device) < lengths[:, None]


@accepts(mask=maybe(bools("B S")))
def key_mask(mask: Tensor | None) -> Tensor | None:
    """Turn a mask of real tokens (B, S) into one for attention in heads (B, 1, 1, S)."""
    if mask is None:
        return None
    return mask[:, None, None]
