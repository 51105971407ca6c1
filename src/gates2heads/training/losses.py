"""Losses: what training makes small."""

import torch.nn.functional as F
from torch import Tensor

from gates2heads.data.checks import check_share
from gates2heads.layers.checks import check_mask, check_tokens, check_width


def cross_entropy(
    logits: Tensor, target: Tensor, *, mask: Tensor | None = None, label_smoothing: float = 0.0
) -> Tensor:
    """Mean surprise at the real target tokens, in nats per token.

    Args:
        logits: (B, T, V) float.
        target: (B, T) long.
        mask: (B, T) bool, True = a real token; padding is left out of sum and count alike.
        label_smoothing: the share ε of the target's probability that is spread over all V tokens.

    Raises:
        TypeError, ValueError: the shapes differ, a target is outside the vocabulary, the mask is
            not bool or does not fit or allows nothing, or ε is outside [0, 1].
    """
    check_width("logits", logits, None, dims=3)
    if not logits.is_floating_point():
        raise TypeError(f"logits must hold floating-point numbers, got {logits.dtype}")
    check_tokens("target", target, logits.shape[-1])
    if logits.shape[:2] != target.shape:
        raise ValueError(
            "logits must have shape (B, T, V) and target (B, T), got "
            f"{tuple(logits.shape)} and {tuple(target.shape)}"
        )
    check_share("label_smoothing", label_smoothing)
    check_mask(mask, target.shape)
    losses = F.cross_entropy(
        logits.transpose(1, 2),  # (B, T, V) -> (B, V, T)
        target.long(),
        reduction="none",
        label_smoothing=label_smoothing,
    )  # (B, T)
    if mask is None:
        return losses.mean()
    mask = mask.expand(target.shape)
    if not mask.any():
        raise ValueError("mask allows no token at all, so there is no loss to average")
    return losses[mask].mean()


def sequence_loss(model, batch) -> Tensor:
    """Teacher-forced cross-entropy of a model on a `Batch`, in nats per token."""
    return cross_entropy(model(batch), batch.target_out, mask=batch.target_mask)
