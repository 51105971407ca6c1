"""Beam search over a batch: the most probable hypotheses of each source are extended in parallel.

`beam_by_definition` implements the same with lists instead of tensors.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, flag, instance, natural
from gates2heads.decoding.hypotheses import Hypotheses, Pool
from gates2heads.decoding.lengths import NO_RULE, RULE, LengthRule
from gates2heads.decoding.prefix import check_known, forced_tokens, only
from gates2heads.decoding.state import Carrier, check_state
from gates2heads.decoding.steps import SEARCH, Step, advance, begin
from gates2heads.decoding.top import top
from gates2heads.decoding.trace import Fate, Tree, fate_of


class Front(NamedTuple):
    """The unfinished hypotheses: M slots for each of the A sources that are still searched."""

    sources: Tensor  # (A,) long, their numbers in the batch
    tokens: Tensor  # (A, M, L) long
    log_prob: Tensor  # (A, M), best first; −∞ is an empty slot
    room: Tensor  # (A, 1) the number of candidates that may be kept


class Candidates(NamedTuple):
    """The R most probable continuations for each of A sources, best first."""

    slots: Tensor  # (A, R) which hypothesis
    tokens: Tensor  # (A, R) which next token
    log_prob: Tensor  # (A, R) of the whole


@accepts(
    **SEARCH,
    width=natural,
    n_best=natural,
    length_rule=RULE,
    refill=flag,
    early_stopping=flag,
    pad=natural(least=0),
    trace=instance(Tree),
)
@torch.no_grad()
def beam(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    width: int = 5,
    n_best: int = 1,
    length_rule: LengthRule | None = None,
    refill: bool = False,
    early_stopping: bool = True,
    prefix: Tensor | Sequence[int] | None = None,
    pad: int = 0,
    trace: Tree | None = None,
) -> Hypotheses:
    """Keep the `width` = k most probable hypotheses at each step; return the best finished ones.

    At each step all k·V continuations are scored, and the k most probable are kept. Those that end
    with `<eos>` or reach `max_length` are finished. Of the finished hypotheses, the n best under
    the length normalisation are returned.

    A finished hypothesis keeps its slot among the k, so that the search narrows and k = 1 is greedy
    search. With `refill` the next most probable candidate takes the slot, as in 🤗 transformers:
    the beam keeps its width k until no better hypothesis is possible.

    Early stopping changes only the running time: a source leaves the batch when none of its
    unfinished hypotheses can reach the score of the worst of its n best. `LengthRule.bound` derives
    the highest score they can reach.

    Args:
        step: the step function; see `gates2heads.decoding.steps`.
        state: its initial state, one row for each source; see `gates2heads.decoding.state`.
        bos: the token to begin with: (B,) long, or one number for a batch of one.
        eos: the token that ends a sequence, or None if only `max_length` does.
        max_length: the maximum number of generated tokens, `<eos>` included.
        width: k.
        n_best: the number of sequences to return, at most k.
        length_rule: the divisor of log-probabilities; none if not given.
        refill: whether other candidates take the slots of finished hypotheses.
        early_stopping: whether to stop when no better hypothesis is possible.
        prefix: tokens that every output must begin with, (B, P) long, or a list for every source;
            see `gates2heads.decoding.prefix`.
        pad: fills the tokens after the end.
        trace: records which candidates were kept and pruned, if given.

    Returns:
        The N best of each source; `scored` (B,) counts the continuations that were scored.

    Raises:
        TypeError, ValueError: `n_best` is above `width`, `bos`, the state or the prefix is invalid,
            or the step function's result is not (log_probs, state).
    """
    if n_best > width:
        raise ValueError(f"n_best must be at most width, got {n_best} of a beam of {width}")
    rule = NO_RULE if length_rule is None else length_rule
    rule.check(max_length)
    last = begin(bos)
    check_state(state, last)
    forced = forced_tokens(prefix, last, eos=eos, max_length=max_length)  # (B, P)
    if trace is not None:
        trace.begin(last)
    front, carrier = _first_front(last, width), Carrier(state)
    pool = Pool(len(last), n_best, pad=pad, device=last.device)
    scored = torch.zeros_like(last)
    for length in range(1, max_length + 1):
        log_probs, state = advance(step, carrier.state, last, eos=eos)
        carrier.moved_on(state)
        scored[front.sources] += (front.log_prob > -torch.inf).sum(dim=1) * log_probs.shape[1]
        allowed = _held(log_probs, forced, front, length)
        found = _most_probable(front, allowed, 2 * width if refill else width)
        complete, going_on = _sort_out(found, front.room, eos, refill, length == max_length)
        if trace is not None:
            sums = front.log_prob[..., None] + log_probs.unflatten(0, front.log_prob.shape)
            trace.grow(front.sources, sums, _fates(found, complete, going_on, eos), rule)
        if complete.any():
            _collect(pool, front, found, complete, eos, rule)
        if length == max_length:
            break
        hopeful = going_on.any(dim=1)
        if early_stopping:
            best = found.log_prob.masked_fill(~going_on, -torch.inf).amax(dim=1)
            hopeful &= pool.worst(front.sources) < rule.bound(best, length, max_length)
        if not hopeful.any():
            break
        room = front.room if refill else front.room - complete.sum(dim=1, keepdim=True)
        front, slots = _follow(front._replace(room=room), found, going_on, hopeful)
        _reorder(carrier, slots, hopeful, len(log_probs))
        last = front.tokens[..., -1].flatten()
    return pool.result(scored)


def _first_front(last: Tensor, width: int) -> Front:
    """One empty hypothesis for each source."""
    sources = torch.arange(len(last), device=last.device)
    log_prob = torch.zeros(len(last), 1, device=last.device)
    return Front(
        sources, last.new_zeros(len(last), 1, 0), log_prob, torch.full_like(log_prob, width)
    )


def _held(log_probs: Tensor, forced: Tensor, front: Front, length: int) -> Tensor:
    """Log-probabilities (A·M, V) in which a forced step allows only one token."""
    if length > forced.shape[1]:
        return log_probs
    check_known(forced, log_probs.shape[1])
    places = front.log_prob.shape[1]
    return only(log_probs, forced[front.sources, length - 1].repeat_interleave(places))


def _most_probable(front: Front, log_probs: Tensor, count: int) -> Candidates:
    """The `count` most probable of all continuations, or all if there are fewer.

    The most probable are among the most probable of each hypothesis; adding only these avoids a
    pass over all (A, M, V).
    """
    sources, places = front.log_prob.shape
    values, indices = top(log_probs, min(count, log_probs.shape[1]))  # (A·M, C)
    sums = front.log_prob[..., None] + values.unflatten(0, (sources, places))  # (A, M, C)
    best = sums.flatten(1).topk(min(count, sums[0].numel()), dim=1)  # (A, R)
    tokens = indices.view(sources, -1).gather(1, best.indices)
    return Candidates(best.indices // sums.shape[2], tokens, best.values)


def _sort_out(found: Candidates, room: Tensor, eos: int | None, refill: bool, cut: bool):
    """Which candidates are finished and which are kept, (A, R) bool each; the rest is pruned."""
    possible = found.log_prob > -torch.inf
    followed = possible & (torch.arange(found.tokens.shape[1], device=room.device) < room)
    if cut:
        return followed, torch.zeros_like(followed)
    ended = torch.zeros_like(followed) if eos is None else found.tokens == eos
    if not refill:
        return followed & ended, followed & ~ended
    going_on = possible & ~ended
    return followed & ended, going_on & (going_on.cumsum(dim=1) <= room)


def _collect(pool: Pool, front: Front, found: Candidates, complete: Tensor, eos, rule) -> None:
    """Add the finished candidates to the pool."""
    finished = torch.zeros_like(complete) if eos is None else found.tokens == eos
    log_prob = found.log_prob.masked_fill(~complete, -torch.inf)
    pool.add(
        front.sources, _written(front.tokens, found.slots, found.tokens), log_prob, finished, rule
    )


def _follow(front: Front, found: Candidates, going_on: Tensor, hopeful: Tensor):
    """The next front, of the sources still searched, and the slots (A, M) that it extends."""
    if not hopeful.all():
        front, found = (type(parts)(*(part[hopeful] for part in parts)) for parts in (front, found))
        going_on = going_on[hopeful]
    places = int(going_on.sum(dim=1).max())
    # The kept ones come first, and among themselves keep their order: the best first.
    order = going_on.sort(dim=1, descending=True, stable=True).indices[:, :places]
    log_prob = found.log_prob.masked_fill(~going_on, -torch.inf).gather(1, order)
    slots, tokens = (part.gather(1, order) for part in (found.slots, found.tokens))
    written = _written(front.tokens, slots, tokens)
    return Front(front.sources, written, log_prob, front.room), slots


def _written(prefixes: Tensor, slots: Tensor, tokens: Tensor) -> Tensor:
    """Prefixes (A, M, L) at these slots (A, R), each with its token after it: (A, R, L + 1)."""
    prefixes = prefixes.gather(1, slots[..., None].expand(-1, -1, prefixes.shape[2]))
    return torch.cat([prefixes, tokens[..., None]], dim=2)


def _reorder(carrier: Carrier, slots: Tensor, hopeful: Tensor, size: int) -> None:
    """Bring the state's rows into the order of the next front."""
    places = size // len(hopeful)  # of each source so far
    firsts = torch.arange(0, size, places, device=slots.device)[hopeful]
    rows = (firsts[:, None] + slots).flatten()
    within = len(rows) == size and bool(hopeful.all())
    if not within or not torch.equal(rows, torch.arange(size, device=rows.device)):
        carrier.select(rows, size, within=within)


def _fates(
    found: Candidates, complete: Tensor, going_on: Tensor, eos: int | None
) -> list[list[Fate]]:
    """For the trace: the fate of each kept candidate."""
    fates = []
    for slots, tokens, ends, lives in zip(
        *(part.tolist() for part in (found.slots, found.tokens, complete, going_on)), strict=True
    ):
        row = zip(slots, tokens, ends, lives, strict=True)
        fates.append(
            [
                (slot, token, fate_of(token, eos=eos, cut=end))
                for slot, token, end, live in row
                if end or live
            ]
        )
    return fates
