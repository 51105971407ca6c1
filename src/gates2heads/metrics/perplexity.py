"""Perplexity: the exponential of the mean surprisal per token.

A language model gives every real token x_t of a text a probability p(x_t | x_<t). Perplexity is the
geometric mean of the inverse of these probabilities. Each of its three usual forms has its own
function below and is computed independently, so that their equality is a test.
"""

import math

import torch
from torch import Tensor

from gates2heads.accepts import accepts, bools, choice, floats

__all__ = ["mean_surprisal", "perplexity", "perplexity_base2", "perplexity_geometric"]

# In half precision the logarithm of a probability near 1 can be this far above 0.
_POSITIVE_ROUNDING = 1e-3


@accepts(log_probs=floats(), mask=bools(), unit=choice(("nats", "bits")))
def mean_surprisal(log_probs: Tensor, *, mask: Tensor | None = None, unit: str = "nats") -> float:
    """Return the mean of -log p over the real tokens.

    Args:
        log_probs: (N, T) or (T,) float, natural log probability of each token; (…) in general.
        mask: bool, same shape; True = a real token. Values at padding are ignored.
        unit: `nats` (natural logarithm) or `bits` (base 2).
    Returns:
        nats or bits per token; inf where a real token has probability 0.
    Raises:
        ValueError: shapes differ, no real token is left, or a value is NaN or positive.
    """
    nats = -_real_tokens(log_probs, mask).mean()
    return nats.item() if unit == "nats" else nats.item() / math.log(2)


@accepts(log_probs=floats(), mask=bools())
def perplexity(log_probs: Tensor, *, mask: Tensor | None = None) -> float:
    """Raise e to the cross-entropy in nats, which is the training loss.

    Source: eq. 15.37 of the notes with base e for base 2; the base cancels.
    Args, Returns, Raises: see `mean_surprisal`. A perplexity too large for a float is inf.
    """
    return (-_real_tokens(log_probs, mask).mean()).exp().item()


@accepts(log_probs=floats(), mask=bools())
def perplexity_base2(log_probs: Tensor, *, mask: Tensor | None = None) -> float:
    """Raise 2 to the cross-entropy in bits, with a sum per sequence first.

    Source: eq. 15.36 of the notes, with log as the logarithm to base 2. The last axis is time.
    Args, Returns, Raises: see `mean_surprisal`.
    """
    tokens = _real_tokens(log_probs, mask)
    real = torch.ones_like(log_probs, dtype=torch.bool) if mask is None else mask
    in_bits = torch.zeros(real.shape, dtype=torch.float64)
    in_bits[real.cpu()] = tokens * math.log2(math.e)
    of_sequences = in_bits.sum(dim=-1)  # (N, T) -> (N,): log2 p(x_1:T) of each sequence
    return torch.exp2(-of_sequences.sum() / tokens.numel()).item()


@accepts(log_probs=floats(), mask=bools())
def perplexity_geometric(log_probs: Tensor, *, mask: Tensor | None = None) -> float:
    """Multiply the T-th roots of the inverse probabilities.

    The product of all probabilities underflows after some hundred tokens. The root of
    a product is the product of the roots, and p^(-1/T) is a number near 1.

    Source: eq. 15.38 of the notes.
    Args, Returns, Raises: see `mean_surprisal`.
    """
    probs = _real_tokens(log_probs, mask).exp()
    return probs.pow(-1 / probs.numel()).prod().item()


def _real_tokens(log_probs: Tensor, mask: Tensor | None) -> Tensor:
    """Check the arguments and return the log probabilities of the real tokens: (T,) float64."""
    if mask is not None:
        if mask.shape != log_probs.shape:
            raise ValueError(
                f"mask must have the shape of log_probs, {tuple(log_probs.shape)}, "
                f"got {tuple(mask.shape)}"
            )
        log_probs = log_probs[mask]
    tokens = log_probs.detach().flatten().cpu().double()
    if tokens.numel() == 0:
        raise ValueError("log_probs must hold at least one real token, got none")
    if tokens.isnan().any():
        raise ValueError("log_probs must not hold NaN at a real token")
    if tokens.max() > _POSITIVE_ROUNDING:
        raise ValueError(
            f"log_probs must be log probabilities, 0 or less, got {tokens.max():.3g}: "
            "apply log_softmax to logits first"
        )
    return tokens
