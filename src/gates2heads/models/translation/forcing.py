"""The decoder's inputs in training: true tokens, its own outputs, or scheduled sampling."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import (
    accepts,
    choice,
    fraction,
    function,
    generator,
    natural,
    number,
    positive,
    tokens,
)

OWN = ("likeliest", "drawn")


@accepts(
    step=function("state", "last_tokens"),
    target_in=tokens("B T"),
    forced=fraction,
    own=choice(OWN),
    generator=generator,
    force=function("state", "target_in"),
)
def unroll(
    step: Callable[[Any, Tensor], tuple[Tensor, Any]],
    state: Any,
    target_in: Tensor,
    *,
    forced: float = 1.0,
    own: str = "likeliest",
    generator: torch.Generator | None = None,
    force: Callable[[Any, Tensor], Tensor] | None = None,
) -> Tensor:
    """Run a decoder along a target.

    Source: Bengio et al. 2015, section 2.4: before every token of every sequence a coin is tossed,
    and with probability ε the decoder receives the true token, else its own. As in the paper, no
    gradient flows through the choice of an own token.

    Args:
        step: (state, last_tokens (B,)) -> (logits (B, V), state).
        state: what `step` needs at first.
        target_in: (B, T) long, `<bos>` first, which is always read.
        forced: ε; 1 is teacher forcing, 0 free running, between them scheduled mixing.
        own: "likeliest" takes the decoder's best token, "drawn" samples from what it says.
        generator: tosses and draws; torch's own if not given. Teacher forcing needs neither.
        force: (state, target_in) -> logits (B, T, V), what a decoder has that need not go token
            by token when all of them are true; taken if ε is 1.

    Returns:
        logits (B, T, V).

    Raises:
        TypeError: `step` returns something else.
    """
    forced = float(forced)
    if force is not None and forced == 1:
        return force(state, target_in)
    written, last_tokens = [], target_in[:, 0]
    for t in range(target_in.shape[1]):
        if t:
            last_tokens = target_in[:, t]
            if forced < 1:
                mine = _own(written[-1].detach(), own, generator).to(last_tokens)
                coin = torch.rand(len(mine), generator=generator).to(mine.device)
                last_tokens = torch.where(coin < forced, last_tokens, mine)
        answer = step(state, last_tokens)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(f"step must return (logits, state), got {type(answer).__name__}")
        logits, state = answer
        written.append(logits)
    return torch.stack(written, dim=1)


def _own(logits: Tensor, own: str, generator: torch.Generator | None) -> Tensor:
    """The tokens (B,) that a decoder with these logits (B, V) generates."""
    if own == "likeliest":
        return logits.argmax(dim=-1)
    return torch.multinomial(logits.softmax(dim=-1).cpu(), 1, generator=generator)[:, 0]


@accepts(step=natural(least=0), slope=positive, floor=fraction)
def linear_share(step: int, *, slope: float, floor: float = 0.0) -> float:
    """The teacher-forcing probability at a training step: max(floor, 1 − slope · step).

    Source: Bengio et al. 2015, section 2.4, starting from 1.
    """
    return max(floor, 1 - slope * step)


@accepts(step=natural(least=0), base=fraction)
def exponential_share(step: int, *, base: float) -> float:
    """The teacher-forcing probability at a training step: base^step, with a base below 1.

    Source: Bengio et al. 2015, section 2.4.
    """
    return float(base) ** step


@accepts(step=natural(least=0), scale=number(least=1))
def sigmoid_share(step: int, *, scale: float) -> float:
    """The teacher-forcing probability at a training step: k / (k + exp(step / k)).

    Near 1 at first, one half at step k · log k, near 0 in the end.

    Source: Bengio et al. 2015, section 2.4 (inverse sigmoid decay).

    Args:
        step: from 0.
        scale: k ≥ 1, in steps.
    """
    # The same fraction without a number too large for a float: 1 / (1 + exp(step/k − log k))
    return 0.5 - 0.5 * math.tanh(0.5 * (step / scale - math.log(scale)))
