"""Exhaustive search: every sequence is scored, so the best is found; the cost is counted."""

import math
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural
from gates2heads.decoding.hypotheses import Hypotheses, Pool
from gates2heads.decoding.lengths import NO_RULE, RULE, LengthRule
from gates2heads.decoding.state import check_state, select
from gates2heads.decoding.steps import SEARCH, Step, advance, begin
from gates2heads.decoding.trace import Tree, fate_of


@accepts(
    **SEARCH,
    n_best=natural,
    length_rule=RULE,
    limit=natural,
    pad=natural(least=0),
    trace=instance(Tree),
)
@torch.no_grad()
def exhaustive(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    n_best: int = 1,
    length_rule: LengthRule | None = None,
    limit: int = 100_000,
    pad: int = 0,
    trace: Tree | None = None,
) -> Hypotheses:
    """Score all possible sequences, and keep the best.

    The sequences are those that end with `<eos>` within `max_length` = T tokens, and those of T
    tokens without it. If no token ends a sequence, there are V^T of them.

    Args:
        step: the step function; see `gates2heads.decoding.steps`.
        state: the initial state of the step function; see `gates2heads.decoding.state`.
        bos: the token to begin with: (B,) long, or one number for a batch of one.
        eos: the token that ends a sequence, or None if only `max_length` does.
        max_length: the maximum number of generated tokens, `<eos>` included.
        n_best: the number of sequences to return.
        length_rule: the divisor of log-probabilities; none if not given.
        limit: the maximum number of scored sequences, for all sources together.
        pad: fills the tokens after the end.
        trace: records the whole tree, if given.

    Returns:
        The N best of each source; `scored` (B,) is how many complete sequences there are.

    Raises:
        TypeError, ValueError: there are more than `limit` sequences, `bos` or the state is invalid,
            or the step function's result is not (log_probs, state).
    """
    rule = NO_RULE if length_rule is None else length_rule
    rule.check(max_length)
    last = begin(bos)
    check_state(state, last)
    if trace is not None:
        trace.begin(last)
    sources = torch.arange(len(last), device=last.device)
    pool = Pool(len(last), n_best, pad=pad, device=last.device)
    prefixes, complete = last.new_zeros(len(last), 1, 0), 0  # (B, M, L)
    totals = torch.zeros(len(last), 1, device=last.device)
    for length in range(1, max_length + 1):
        log_probs, state = advance(step, state, last, eos=eos)
        words = torch.arange(log_probs.shape[1], device=last.device)
        if length == 1:
            complete = _count(len(words), len(last), max_length, eos=eos, limit=limit)
        sums = totals[..., None] + log_probs.unflatten(0, totals.shape)  # (B, M, V)
        if trace is not None:
            trace.grow(sources, sums, _fates(sums, eos, length == max_length), rule)
        ends = words == (-1 if eos is None else eos)
        closing = words if length == max_length else words[ends]
        if len(closing):
            finished = ends[closing].repeat(len(sources), prefixes.shape[1])
            pool.add(
                sources, _append(prefixes, closing), sums[..., closing].flatten(1), finished, rule
            )
        going_on = words[~ends]
        if length == max_length or not len(going_on):
            break
        rows = torch.arange(len(log_probs), device=last.device).repeat_interleave(len(going_on))
        state = select(state, rows, len(log_probs))
        prefixes, totals = _append(prefixes, going_on), sums[..., going_on].flatten(1)
        last = prefixes[..., -1].flatten()
    return pool.result(torch.full_like(sources, complete))


def _append(prefixes: Tensor, words: Tensor) -> Tensor:
    """Each of M prefixes (B, M, L) with each of W words after it: (B, M·W, L + 1)."""
    sources, count, _ = prefixes.shape
    words_after = words.repeat(sources, count)[..., None]  # (B, M·W, 1)
    return torch.cat([prefixes.repeat_interleave(len(words), dim=1), words_after], dim=2)


def _count(size: int, sources: int, max_length: int, *, eos: int | None, limit: int) -> int:
    """How many sequences there are for one source, if not too many."""
    branching = size if eos is None else size - 1  # tokens after which a sequence continues
    complete, going_on = 0, 1
    for length in range(1, max_length + 1):
        last = length == max_length
        complete += going_on * (size if last else size - branching)
        going_on *= branching
        if sources * max(complete, going_on) > limit:
            power = max_length * math.log10(max(branching, 1.1))
            raise ValueError(
                f"limit must allow all sequences of up to max_length={max_length} out of {size} "
                f"tokens, about 10^{power:.3g} for each of {sources} sources, got {limit}"
            )
        if not going_on:
            break
    return complete


def _fates(sums: Tensor, eos: int | None, cut: bool):
    """Nothing is pruned: every token after every prefix is kept."""
    sources, prefixes, size = sums.shape
    every = [
        (slot, token, fate_of(token, eos=eos, cut=cut))
        for slot in range(prefixes)
        for token in range(size)
    ]
    return [every] * sources
