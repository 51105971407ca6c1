"""Loss functions."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

import torch
from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, floats, fraction, instance, number, tokens
from gates2heads.accepts.values import LARGEST_SINGLE
from gates2heads.data.batches.pairs import Batch

LEFT_OUT = -100  # no token has this number
A_BATCH = instance(Batch, "as `collate` makes")
ROWS = 128  # of logits at a time; with some thousand tokens each they fit into a CPU cache


@accepts(
    logits=floats("B T V"),
    target=tokens("B T", below="V"),
    mask=boolean_mask("B T"),
    label_smoothing=fraction,
)
def cross_entropy(
    logits: Tensor, target: Tensor, *, mask: Tensor | None = None, label_smoothing: float = 0.0
) -> Tensor:
    """Mean surprisal of the real target tokens, in nats per token.

    Args:
        logits: (B, T, V) float.
        target: (B, T) long.
        mask: (B, T) bool, True = a real token; padding is excluded from the mean.
        label_smoothing: the fraction ε of the target's probability that is spread over all V
            tokens, as in Szegedy et al. 2016, section 7.

    Raises:
        ValueError: the mask is False everywhere.
    """
    target = target.long()
    if mask is not None:
        mask = mask.expand(target.shape)
        if not mask.any():
            raise ValueError("mask allows no token at all, so there is no loss to average")
        target = target.masked_fill(~mask, LEFT_OUT)
    return MeanSurprise.apply(logits.flatten(0, 1), target.flatten(), float(label_smoothing))


class _KnownGradient(torch.autograd.Function):
    """A loss of logits, the first argument, whose forward pass has stored its gradient."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream: Tensor):
        """Scale the gradient of the forward pass; the other arguments have no gradient."""
        (gradient,) = ctx.saved_tensors
        others = [None] * (len(ctx.needs_input_grad) - 1)
        return gradient * upstream.to(gradient.dtype), *others


class MeanSurprise(_KnownGradient):
    """Cross-entropy of logits (N, V) with targets (N,), and its gradient in the same pass.

    With the smoothed target q = (1 − ε) · one-hot + ε / V, the loss of a row is −Σ q log p, and
    its gradient p − q needs nothing that the loss did not compute. PyTorch's own function stores
    several N × V tensors for the backward pass; here a few rows at a time fit into the CPU cache,
    and only the gradient is stored, in the precision of the logits.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """The mean over the rows whose target is not `LEFT_OUT`."""
        gradient, losses = torch.empty_like(logits), []
        for rows, out, wanted, weight in _parts(logits, gradient, target, _weights(logits, target)):
            loss, apart, _ = surprise(rows, wanted, smoothing)
            out.copy_(apart.mul_(weight))
            losses.append((loss * weight).sum())
        ctx.save_for_backward(gradient)
        return torch.stack(losses).sum()


class MeanDisagreement(_KnownGradient):
    """The loss of `r_drop_loss` from the logits (2, N, V) of two passes, with its gradient.

    Let d = log p − log q, for the probabilities p and q of the two passes. Then Σ (p − q) d, the
    divergence in both directions, has the gradient (p − q) + p (d − Σ p d) for the logits of p,
    and for those of q the same with the two exchanged.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, target: Tensor, smoothing: float, strength: float) -> Tensor:
        """The mean over the rows whose target is not `LEFT_OUT`; target is (N,)."""
        gradient, losses = torch.empty_like(logits), []
        both = (*logits, *gradient, target, _weights(logits, target))
        for first, second, out, other_out, wanted, weight in _parts(*both):
            loss, apart, log_p = surprise(first, wanted, smoothing)
            other_loss, other_apart, log_q = surprise(second, wanted, smoothing)
            p, q, d = log_p.exp(), log_q.exp(), log_p - log_q
            both_ways = p - q
            forth = (p * d).sum(dim=1, keepdim=True)  # KL(p ‖ q)
            back = -(q * d).sum(dim=1, keepdim=True)  # KL(q ‖ p)
            # The gradient of q is −(p − q) − q (d + KL(q ‖ p)).
            apart.add_(both_ways, alpha=strength).addcmul_(p, d - forth, value=strength)
            other_apart.sub_(both_ways, alpha=strength).addcmul_(q, d + back, value=-strength)
            out.copy_(apart.mul_(0.5 * weight))
            other_out.copy_(other_apart.mul_(0.5 * weight))
            total = loss + other_loss + strength * (forth + back)
            losses.append((total * 0.5 * weight).sum())
        ctx.save_for_backward(gradient)
        return torch.stack(losses).sum()


def surprise(logits: Tensor, target: Tensor, smoothing: float) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of rows, its gradient for their logits, and log p.

    Args:
        logits: (R, V).
        target: (R, 1); `LEFT_OUT` counts as token 0.
        smoothing: ε.

    Returns:
        −Σ q log p, (R, 1); p − q, (R, V); and log p, (R, V); in float32 at least.
    """
    target = target.clamp_min(0)
    log_p = logits.to(_at_least_float32(logits)).log_softmax(dim=1)
    loss = -(1 - smoothing) * log_p.gather(1, target)
    if smoothing:  # otherwise a token with logit −∞ would give 0 · ∞
        loss = loss - smoothing * log_p.mean(dim=1, keepdim=True)
    apart = log_p.exp().sub_(smoothing / logits.shape[1])
    apart.scatter_add_(1, target, torch.full_like(loss, smoothing - 1))
    return loss, apart, log_p


def _parts(*tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Tensors of N rows, some of them at a time; (N,) becomes (N, 1)."""
    columns = [table[:, None] if table.dim() == 1 else table for table in tables]
    size = ROWS if columns[0].device.type == "cpu" else len(columns[0])
    return zip(*(column.split(size) for column in columns), strict=True)


def _weights(logits: Tensor, target: Tensor) -> Tensor:
    """The weight of each row in the average: (N,), zero for excluded rows."""
    real = target != LEFT_OUT
    return real.to(_at_least_float32(logits)) / real.sum()


def _at_least_float32(logits: Tensor) -> torch.dtype:
    return torch.promote_types(logits.dtype, torch.float32)


@accepts(batch=A_BATCH, label_smoothing=fraction)
def sequence_loss(model, batch, *, label_smoothing: float = 0.0) -> Tensor:
    """Teacher-forced cross-entropy of a model on a `Batch`, in nats per token.

    Args:
        model: from a batch to logits (B, T, V).
        batch: B pairs.
        label_smoothing: as for `cross_entropy`.

    Raises:
        TypeError, ValueError: the model does not return logits (B, T, V).
    """
    logits, target = logits_of(model, batch, batch.target_out.shape), batch.target_out
    return cross_entropy(logits, target, mask=batch.target_mask, label_smoothing=label_smoothing)


def logits_of(model, read: Batch | Tensor, shape: Sequence[int]) -> Tensor:
    """Call a model, and reject a result that is not logits.

    Args:
        model: a function of its input.
        read: a batch, or tokens (B, L).
        shape: (B, T), the positions to predict.

    Returns:
        (B, T, V).
    """
    logits = model(read)
    check_logits(logits, shape)
    return logits


def check_logits(logits: Tensor, shape: Sequence[int]) -> None:
    """Reject a model's result that is not logits (B, T, V).

    Args:
        logits: the result.
        shape: (B, T), the positions to predict.

    Raises:
        TypeError, ValueError: with a message about the model.
    """
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        kind = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"model must return a tensor of floating-point logits, got {kind}")
    if logits.dim() != 3 or logits.shape[:2] != tuple(shape):
        axes = ", ".join(map(str, shape))
        raise ValueError(f"model must return logits ({axes}, V), got {tuple(logits.shape)}")


@accepts(batch=A_BATCH, weight=number(least=0, most=LARGEST_SINGLE), label_smoothing=fraction)
def r_drop_loss(model, batch, *, weight: float, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy, and the divergence of two passes with different dropout.

    Source: Liang et al. 2021, "R-Drop", eq. 1–4: ½ (ℒ₁ + ℒ₂) + α · ½ (KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁)),
    the divergence per token. The two passes are one pass over the duplicated batch.

    Args:
        model: with dropout; without it the second term is zero.
        batch: B pairs.
        weight: α ≥ 0.
        label_smoothing: as for `cross_entropy`.

    Raises:
        TypeError, ValueError: the model does not return logits (2B, T, V).
    """
    twice = Batch(*(getattr(batch, part.name).repeat(2, 1) for part in fields(batch)))
    logits = logits_of(model, twice, twice.target_out.shape)  # (2B, T, V)
    logits = logits.unflatten(0, (2, -1))  # (2, B, T, V)
    target = batch.target_out.masked_fill(~batch.target_mask, LEFT_OUT)
    return MeanDisagreement.apply(
        logits.flatten(1, 2), target.flatten(), float(label_smoothing), float(weight)
    )
