"""Exact search: the most probable sequence, found without scoring all of them.

Extending a prefix never increases its probability. A prefix that is no more probable than a known
complete sequence therefore cannot lead to a better one, and is discarded together with all its
continuations. Few prefixes remain: those of one length are mutually exclusive, so their
probabilities sum to at most 1, and at most 1/P of them have a probability above P.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, natural, number
from gates2heads.decoding.state import check_state, select
from gates2heads.decoding.steps import SEARCH, Step, advance, begin, check_one


class ExactResult(NamedTuple):
    """The result of an exact search, and its cost."""

    tokens: list[int] | None  # without <bos>; None: nothing is more probable than the threshold
    log_prob: float  # of these tokens, or the threshold, in nats
    finished: bool  # whether <eos> was generated within max_length
    prefixes: int  # how many prefixes were extended
    proven: bool  # False: the limit was reached; a more probable one may exist


class Branch(NamedTuple):
    """M prefixes of one length that may still lead to a more probable sequence."""

    tokens: Tensor  # (M, L) long
    log_prob: Tensor  # (M,), best first
    state: Any


@accepts(**SEARCH, threshold=number, limit=natural, rows=natural)
@torch.no_grad()
def exact(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    threshold: float,
    limit: int = 100_000,
    rows: int = 256,
) -> ExactResult:
    """Find the most probable sequence, if it is more probable than the threshold.

    The sequences are those of `exhaustive`. The search is depth-first, in order of decreasing
    probability, and every better complete sequence raises the threshold.

    Source: Stahlberg and Byrne 2019, section 3. Departs from it by extending prefixes in batches.

    Args:
        step, state: as for `beam`, with one row; it receives up to `rows` = M rows, (M, V).
        bos: the token to begin with: (1,) long, or a number.
        eos, max_length: as for `beam`.
        threshold: a log-probability that is already known, such as that of a beam's output.
        limit: the maximum number of prefixes to extend, rounded up to the next `rows`.
        rows: the number of prefixes passed to the step function in one call.

    Raises:
        TypeError, ValueError: there is more than one source, the state does not fit, or the step
            function's result is not (log_probs, state).
    """
    last = begin(bos)
    eos = eos if eos is None else int(eos)  # a NumPy number as an index is a mask
    check_one(last)
    check_state(state, last)
    best, prefixes = ExactResult(None, float(threshold), False, 0, False), 0
    branches = [Branch(last.new_zeros(1, 0), torch.zeros(1, device=last.device), state)]
    while branches and prefixes < limit:
        branch = branches.pop()
        if branch.log_prob[0] <= best.log_prob and branch.tokens.shape[1]:
            continue  # the threshold has risen since
        prefixes += len(branch.tokens)
        before = branch.tokens[:, -1] if branch.tokens.shape[1] else last
        log_probs, state = advance(step, branch.state, before, eos=eos)
        grown = branch.log_prob[:, None] + log_probs  # (M, V)
        best = _completed(branch, grown, best, eos, max_length)
        if branch.tokens.shape[1] + 1 < max_length:
            branches += _promising(branch, grown, state, best.log_prob, eos, rows)
    return best._replace(prefixes=prefixes, proven=not branches)


def _completed(
    branch: Branch, grown: Tensor, best: ExactResult, eos: int | None, max_length: int
) -> ExactResult:
    """The best so far, or a more probable complete sequence among grown (M, V)."""
    cut = branch.tokens.shape[1] + 1 == max_length
    if eos is None and not cut:
        return best
    ways = grown if cut else grown[:, [eos]]
    top = int(ways.argmax())
    log_prob = ways.flatten()[top].item()
    if not log_prob > best.log_prob:
        return best
    token = top % ways.shape[1] if cut else eos
    tokens = [*branch.tokens[top // ways.shape[1]].tolist(), token]
    return best._replace(tokens=tokens, log_prob=log_prob, finished=token == eos)


def _promising(
    branch: Branch, grown: Tensor, state: Any, threshold: float, eos: int | None, rows: int
) -> list[Branch]:
    """The prefixes above the threshold, in branches of at most `rows`, the most probable last."""
    if eos is not None:
        grown = grown.index_fill(1, torch.tensor([eos], device=grown.device), -math.inf)
    slots, tokens = (grown > threshold).nonzero(as_tuple=True)
    order = grown[slots, tokens].argsort(descending=True, stable=True)
    branches = []
    for some in order.split(rows) if len(order) else ():
        parents, added = slots[some], tokens[some]
        written = torch.cat([branch.tokens[parents], added[:, None]], dim=1)
        kept = select(state, parents, len(grown))
        branches.append(Branch(written, grown[parents, added], kept))
    return branches[::-1]
