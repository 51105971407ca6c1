"""What a decoder reads while it learns: the true token before, its own, or a mixture."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_dense
from gates2heads.checks.values import (
    check_choice,
    check_count,
    check_generator,
    check_positive,
    check_share,
)

OWN = ("likeliest", "drawn")


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
    and with probability ε the decoder reads the true token, else its own. As in the paper, no
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
        TypeError, ValueError: `forced` is no number in [0, 1], `own` is neither, or an argument is
            not what it should be.
    """
    check_share("forced", forced)
    forced = float(forced)
    check_choice("own", own, OWN)
    check_generator(generator)
    if not callable(step):
        raise TypeError(f"step must be a function, got {type(step).__name__}")
    if not isinstance(target_in, Tensor) or target_in.dtype not in (torch.long, torch.int):
        raise TypeError(f"target_in must be a tensor of token numbers, got {shown(target_in)}")
    if target_in.dim() != 2 or not target_in.numel():
        raise ValueError(f"target_in must have shape (B, T), got {tuple(target_in.shape)}")
    check_dense("target_in", target_in)
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
    """The tokens (B,) that a decoder with these logits (B, V) would write."""
    if own == "likeliest":
        return logits.argmax(dim=-1)
    return torch.multinomial(logits.softmax(dim=-1).cpu(), 1, generator=generator)[:, 0]


def linear_share(step: int, *, slope: float, floor: float = 0.0) -> float:
    """How much to force at a step of the training: max(floor, 1 − slope · step).

    Source: Bengio et al. 2015, section 2.4, starting from 1.
    """
    check_count("step", step, least=0)
    check_positive("slope", slope)
    check_share("floor", floor)
    return max(floor, 1 - slope * step)


def exponential_share(step: int, *, base: float) -> float:
    """How much to force at a step of the training: base^step, with a base below 1.

    Source: Bengio et al. 2015, section 2.4.
    """
    check_count("step", step, least=0)
    check_share("base", base)
    return float(base) ** step


def sigmoid_share(step: int, *, scale: float) -> float:
    """How much to force at a step of the training: k / (k + exp(step / k)).

    Near 1 at first, one half at step k · log k, near 0 in the end.

    Source: Bengio et al. 2015, section 2.4 (inverse sigmoid decay).

    Args:
        step: from 0.
        scale: k ≥ 1, in steps.
    """
    check_count("step", step, least=0)
    check_positive("scale", scale)
    if scale < 1:
        raise ValueError(f"scale must be at least 1, got {scale}")
    # The same fraction without a number too large for a float: 1 / (1 + exp(step/k − log k))
    return 0.5 - 0.5 * math.tanh(0.5 * (step / scale - math.log(scale)))
