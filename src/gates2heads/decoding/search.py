"""Searches for an output, through a step function and without knowing the model behind it.

A step function takes `(state, last_tokens)` and returns `(log_probs, state)`: `last_tokens` (B,) is
what was written last, `log_probs` (B, V) is what may come next, in nats. A probability table, an
n-gram table, a recurrent network and a Transformer all fit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.data.checks import check_count

Step = Callable[[Any, Tensor], tuple[Tensor, Any]]


class Output(NamedTuple):
    """One written sequence for each of B sources."""

    tokens: Tensor  # (B, T) long, without <bos>; after <eos> all is padding
    log_prob: Tensor  # (B,) the sum of the log-probabilities of the tokens, in nats
    finished: Tensor  # (B,) bool, True where <eos> was written within max_length


@torch.no_grad()
def greedy(
    step: Step, state: Any, *, bos: Tensor | int, eos: int, max_length: int, pad: int = 0
) -> Output:
    """Write the likeliest token at every step.

    Each step's best token need not begin the best sequence; chapter 8 counts what that costs.

    Args:
        step: the step function.
        state: what the step function needs at first.
        bos: the token to begin with: (B,) long, or one number for a batch of one.
        eos: the token that ends a sequence.
        max_length: stop after so many steps.
        pad: fills rows that have ended.

    Raises:
        TypeError: `bos` is no whole number and no tensor of them, or `step` returns no tensor.
        ValueError: `max_length` is below 1, `bos` is empty, or the step function does not return
            (B, V) or returns NaN.
    """
    if not callable(step):
        raise TypeError(f"step must be a function, got {type(step).__name__}")
    check_count("max_length", max_length)
    last = _first_tokens(bos)
    finished = torch.zeros_like(last, dtype=torch.bool)
    log_prob, written = 0.0, []
    for _ in range(max_length):
        log_probs, state = _checked(step(state, last), len(last))
        best, last = log_probs.max(dim=-1)  # both (B,)
        log_prob = log_prob + best.masked_fill(finished, 0.0)
        last = last.masked_fill(finished, pad)
        written.append(last)
        finished = finished | (last == eos)
        if finished.all():
            break
    return Output(torch.stack(written, dim=1), log_prob, finished)


def _first_tokens(bos: Tensor | int) -> Tensor:
    """The tokens to begin with, (B,) long."""
    if not isinstance(bos, Tensor):
        check_count("bos", bos, least=0)
        bos = torch.tensor([bos])
    if bos.dtype not in (torch.long, torch.int) or bos.dim() > 1 or not bos.numel():
        raise ValueError(
            f"bos must be one number, or a tensor (B,) of numbers, got {bos.dtype} of shape "
            f"{tuple(bos.shape)}"
        )
    return bos.reshape(-1).long()


def _checked(answer: Any, batch_size: int) -> tuple[Tensor, Any]:
    """What a step returned, if it is (log_probs, state) with log_probs (B, V) free of NaN."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError(f"step must return (log_probs, state), got {type(answer).__name__}")
    log_probs, _ = answer
    if not isinstance(log_probs, Tensor):
        raise TypeError(f"step must return a tensor of log_probs, got {type(log_probs).__name__}")
    if log_probs.dim() != 2 or len(log_probs) != batch_size:
        raise ValueError(
            f"step must return log_probs of shape ({batch_size}, V), got {tuple(log_probs.shape)}"
        )
    if log_probs.isnan().any():
        raise ValueError("step returned NaN among its log_probs")
    return answer
