"""Passages: equally long pieces of one long text, for language models."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, natural, tokens


@accepts(text=tokens("N"), count=natural, length=natural, seed=any_seed)
def passages(text: Tensor, count: int, *, length: int, seed: int = 0) -> Iterator[Tensor]:
    """Sample passages (B, L + 1) endlessly from a long text: B = count, L = length.

    Raises:
        ValueError: the text is not longer than a passage.
    """
    if len(text) <= length:
        raise ValueError(f"text must be longer than {length} tokens, got {len(text)}")
    draw = torch.Generator().manual_seed(int(seed))  # may be NumPy's
    while True:
        starts = torch.randint(len(text) - length, (count,), generator=draw)
        yield text[starts[:, None] + torch.arange(length + 1)]


def passage_loss(model: nn.Module, passage: Tensor) -> Tensor:
    """Mean cross-entropy in nats of every token of a passage (B, L + 1) but the first.

    Args:
        model: maps tokens (B, L) to logits (B, L, V).
        passage: (B, L + 1) long.
    """
    logits = model(passage[:, :-1])  # (B, L, V)
    return F.cross_entropy(logits.flatten(0, 1), passage[:, 1:].flatten())
