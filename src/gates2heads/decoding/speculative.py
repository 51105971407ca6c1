"""Speculative decoding: a small model drafts, a large one verifies, and samples stay the same."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, generator, whole


@accepts(
    drafted=whole("G"),
    draft_log_probs=floats("G V"),
    target_log_probs=floats("N V"),
    generator=generator,
)
def verify(
    drafted: Tensor,
    draft_log_probs: Tensor,
    target_log_probs: Tensor,
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Keep the drafted tokens that the target model accepts, and sample one more from it.

    A drafted token is accepted with probability min(1, p/q), where p is the target model's
    probability and q the draft model's. The first token that is rejected is replaced by a sample
    from max(0, p − q), normalised. The result is distributed as if the target model alone had been
    sampled.

    Source: Leviathan et al. 2023, algorithm 1.

    Args:
        drafted: (G,) long, sampled autoregressively from the draft model.
        draft_log_probs: (G, V) of the draft model before each of them.
        target_log_probs: (G + 1, V) of the target model before each of them, and after the last:
            one forward pass of the target model.
        generator: for reproducible results; torch's global generator if not given.

    Returns:
        (A + 1,) long: the A accepted tokens, 0 to G, and one from the target model.

    Raises:
        ValueError: there are not G + 1 rows of target_log_probs.
    """
    size = len(drafted)
    if len(target_log_probs) != size + 1:
        raise ValueError(
            f"target_log_probs must have {size + 1} rows for {size} drafted tokens, got "
            f"{len(target_log_probs)}"
        )
    draft, target = draft_log_probs.double().exp(), target_log_probs.double().exp()
    chances = torch.rand(size, generator=generator, dtype=torch.double)
    for place, token in enumerate(drafted.tolist()):
        p, q = target[place, token], draft[place, token]
        if chances[place] * q >= p:
            left = (target[place] - draft[place]).clamp(min=0)
            return _with_sample(drafted[:place], left, generator)
    return _with_sample(drafted, target[size], generator)


def _with_sample(tokens: Tensor, weights: Tensor, generator: torch.Generator | None) -> Tensor:
    """The tokens, and one more in proportion to the weights (V,)."""
    return torch.cat([tokens, torch.multinomial(weights, 1, generator=generator)])
