"""Statistics of attention heads: distance, entropy, and the weights of neighbouring positions."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, bools, floats

OFFSETS = {"previous": -1, "itself": 0, "next": 1}


@accepts(weights=floats("B H T S"), queries=bools("B T"), keys=bools("B S"), marked=bools("B S"))
def head_statistics(
    weights: Tensor, *, queries: Tensor, keys: Tensor, marked: Tensor | None = None
) -> dict[str, Tensor]:
    """Describe each head by means over its queries.

    Args:
        weights: (B, H, T, S), rows sum to 1, as a recorded layer stores them.
        queries: (B, T) bool, True = a real token; the others are not counted.
        keys: (B, S) bool, True = a real token, the last of which is the one at the end.
        marked: (B, S) bool, True = a key to be counted as `marked`, such as a full stop.

    Returns:
        seven tensors (H,) by name. `distance`: the mean of |t − s|, each key counted by its weight,
        in tokens. `entropy`: in nats. `previous`, `itself`, `next`: the weight at s = t − 1, t and
        t + 1. `first`, `last`: the weight on the first and on the last real key. With marked keys,
        also `marked`, the weight on all of them together.

    Raises:
        ValueError: no query or no key is real.
    """
    for name, real in (("queries", queries), ("keys", keys)):
        if not bool(real.any()):
            raise ValueError(f"{name} must hold at least one real token, got none")
    # In half precision a sum over many queries would be infinite, and a mean of it no number.
    weights = weights.to(torch.promote_types(weights.dtype, torch.float32))
    length, size = weights.shape[2:]
    places = torch.arange(length, device=weights.device)
    offsets = torch.arange(size, device=weights.device) - places[:, None]  # (T, S), s − t
    # The last real key of each sequence, as a one-hot row
    last = size - 1 - keys.flip(1).long().argmax(1)  # (B,)
    on_last = torch.arange(size, device=weights.device) == last[:, None]  # (B, S)
    statistics = {
        "distance": (weights * offsets.abs()).sum(-1),  # (B, H, T), as all that follow
        "entropy": -torch.xlogy(weights, weights).sum(-1),
        **{name: (weights * (offsets == step)).sum(-1) for name, step in OFFSETS.items()},
        "first": weights[..., 0],
        "last": (weights * on_last[:, None, None]).sum(-1),
    }
    if marked is not None:
        statistics["marked"] = (weights * marked[:, None, None]).sum(-1)
    real = queries[:, None].to(weights.dtype)  # (B, 1, T)
    return {name: (seen * real).sum((0, 2)) / real.sum() for name, seen in statistics.items()}
