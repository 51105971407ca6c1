"""The step function: the only interface between search algorithms and models.

A step function takes `(state, last_tokens)` and returns `(log_probs, state)`: `last_tokens` (B,)
are the last tokens, `log_probs` (B, V) the log-probabilities of the next ones, in nats. A
probability table, an n-gram table, a recurrent network and a Transformer all fit.

A step function does not modify the state that it receives, and returns a new one; it passes on
unchanged parts, such as the encoded source.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import function, maybe, natural
from gates2heads.accepts.shown import shown

Step = Callable[[Any, Tensor], tuple[Tensor, Any]]
ROUNDING = 1e-3  # the largest log-probability that rounding alone can cause
# Arguments of every search: `@accepts(**SEARCH, width=count)`.
SEARCH = {
    "step": function("state", "last_tokens"),
    "eos": maybe(natural(least=0)),
    "max_length": natural,
}


def begin(bos: Tensor | int) -> Tensor:
    """The tokens to begin with, (B,) long: one for each source, or one number for a batch of one.

    Raises:
        TypeError, ValueError: `bos` is neither a number nor a tensor (B,) of numbers.
    """
    if not isinstance(bos, Tensor):
        natural(least=0).check("bos", bos)
        bos = torch.tensor([int(bos)])
    if bos.dtype not in (torch.long, torch.int) or bos.dim() > 1 or not bos.numel():
        raise ValueError(
            f"bos must be one number, or a tensor (B,) of numbers, got {bos.dtype} of shape "
            f"{tuple(bos.shape)}"
        )
    return bos.reshape(-1).long()


def check_one(last_tokens: Tensor) -> None:
    """Reject a batch, last_tokens (B,), in a search that accepts one source at a time.

    Raises:
        ValueError: B is not 1.
    """
    if len(last_tokens) != 1:
        raise ValueError(f"bos must be one number, got {len(last_tokens)}: one source at a time")


def advance(step: Step, state: Any, last_tokens: Tensor, *, eos: int | None) -> tuple[Tensor, Any]:
    """Call the step function once, and check its result.

    Returns:
        log_probs (B, V), none above 0, and the next state.

    Raises:
        TypeError: the result is not `(log_probs, state)`, or the first is not a float tensor.
        ValueError: log_probs are not (B, V), contain NaN or values that are not the logarithm of a
            probability, or `eos` is not among the V tokens.
    """
    answer = step(state, last_tokens)
    check_answer(answer, len(last_tokens), eos)
    log_probs, state = answer
    return _at_most_zero(log_probs), state


def check_answer(answer: tuple[Tensor, Any], rows: int, eos: int | None) -> None:
    """Reject an invalid result of a step function for R rows: log_probs (R, V), and a state.

    Raises:
        TypeError, ValueError: as `advance`.
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError(f"step must return (log_probs, state), got {shown(answer)}")
    log_probs = answer[0]
    if not isinstance(log_probs, Tensor) or not log_probs.is_floating_point():
        raise TypeError(f"step must return a tensor of log_probs, got {shown(log_probs)}")
    if log_probs.dim() != 2 or len(log_probs) != rows or not log_probs.numel():
        raise ValueError(
            f"step must return log_probs of shape ({rows}, V), got {tuple(log_probs.shape)}"
        )
    if eos is not None and eos >= log_probs.shape[1]:
        raise ValueError(
            f"eos must be one of the {log_probs.shape[1]} tokens that step scores, got {eos}"
        )


def _at_most_zero(log_probs: Tensor) -> Tensor:
    """Reject NaN and numbers above 0; testing the largest finds both."""
    top = log_probs.max().item()
    if math.isnan(top):
        raise ValueError("step returned NaN among its log_probs")
    if top > ROUNDING:
        raise ValueError(
            f"step must return log_probs, which are at most 0, got {top:.4g}; log_softmax makes "
            "them from logits"
        )
    return log_probs.clamp(max=0.0) if top > 0 else log_probs
