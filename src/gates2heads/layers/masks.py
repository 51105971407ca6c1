"""Masks: bool tensors in which True means "may attend" or "is a real token"."""

import torch
from torch import Tensor

from gates2heads.layers.checks import check_mask


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
    check_mask(mask, scores.shape)
    if mask is None:
        return scores.softmax(dim=-1)
    # The most negative finite number, not -inf: a row of -inf alone would give NaN.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)
