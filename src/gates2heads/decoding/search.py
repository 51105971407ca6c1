"""Searches that keep one hypothesis for each source, and greedy search, the first of them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural
from gates2heads.decoding.prefix import check_known, forced_tokens
from gates2heads.decoding.steps import SEARCH, Step, advance, begin
from gates2heads.decoding.trace import Tree, path_fates


class Output(NamedTuple):
    """One generated sequence for each of B sources."""

    tokens: Tensor  # (B, T) long, without <bos>; after <eos> all is padding
    log_prob: Tensor  # (B,) the sum of the log-probabilities of the tokens, in nats
    finished: Tensor  # (B,) bool, True where <eos> was generated within max_length


@accepts(**SEARCH, pad=natural(least=0), trace=instance(Tree))
def greedy(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    prefix: Tensor | Sequence[int] | None = None,
    pad: int = 0,
    trace: Tree | None = None,
) -> Output:
    """Choose the most probable token at every step.

    The best token at each step need not begin the best sequence; chapter 8 measures the cost.

    Args:
        step: the step function; see `gates2heads.decoding.steps`.
        state: the initial state of the step function.
        bos: the token to begin with: (B,) long, or one number for a batch of one.
        eos: the token that ends a sequence, or None if only `max_length` does.
        max_length: the maximum number of steps.
        prefix: tokens that every output must begin with, (B, P) long, or a list for every source;
            see `gates2heads.decoding.prefix`.
        pad: fills finished rows.
        trace: records every step, if given.

    Raises:
        TypeError, ValueError: `bos` or the prefix is invalid, or the step function does not
            return log_probs (B, V) and a state, or returns NaN or numbers above 0.
    """
    return follow(
        lambda log_probs, finished: log_probs.argmax(dim=-1),
        step,
        state,
        bos=bos,
        eos=eos,
        max_length=max_length,
        prefix=prefix,
        pad=pad,
        trace=trace,
    )


@torch.no_grad()
def follow(
    choose: Callable[[Tensor, Tensor], Tensor],
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    prefix: Tensor | Sequence[int] | None = None,
    pad: int = 0,
    trace: Tree | None = None,
) -> Output:
    """Generate one sequence for each source, token by token, without backtracking.

    Args:
        choose: from log_probs (B, V) and finished rows (B,) to the next tokens (B,). It is also
            called at forced steps, so that later samples do not depend on the prefix.
        step, state, bos, eos, max_length, prefix, pad, trace: as for `greedy`.
    """
    last = begin(bos)
    finished = torch.zeros_like(last, dtype=torch.bool)
    total, written = torch.zeros(len(last), device=last.device), []
    if trace is not None:
        trace.begin(last)
    forced = forced_tokens(prefix, last, eos=eos, max_length=max_length)  # (B, P)
    for length in range(1, max_length + 1):
        log_probs, state = advance(step, state, last, eos=eos)
        last = choose(log_probs, finished)
        if length <= forced.shape[1]:
            check_known(forced, log_probs.shape[1])
            last = forced[:, length - 1]
        if trace is not None:
            fates = path_fates(last, finished, eos=eos, cut=length == max_length)
            trace.grow(torch.arange(len(last)), log_probs[:, None] + total[:, None, None], fates)
        chosen = log_probs.gather(1, last[:, None])[:, 0]
        total = total + chosen.masked_fill(finished, 0.0)
        last = last.masked_fill(finished, pad)
        written.append(last)
        finished = finished if eos is None else finished | (last == eos)
        if finished.all():
            break
    return Output(torch.stack(written, dim=1), total, finished)
