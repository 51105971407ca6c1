"""Beam search as it is defined: for one source, with lists, and without optimisations.

`beam` does the same for a batch of sources and stops early; a test checks that both find the same
sequences.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gates2heads.accepts import accepts, flag, natural
from gates2heads.decoding.lengths import NO_RULE, RULE, LengthRule
from gates2heads.decoding.prefix import forced_tokens
from gates2heads.decoding.state import check_state
from gates2heads.decoding.steps import SEARCH, Step, advance, begin


class Written(NamedTuple):
    """The tokens generated so far, and the step function's state after them."""

    tokens: list[int]  # without <bos>
    log_prob: float  # in nats
    state: Any


@accepts(
    **SEARCH, bos=natural(least=0), width=natural, n_best=natural, length_rule=RULE, refill=flag
)
@torch.no_grad()
def beam_by_definition(
    step: Step,
    state: Any,
    *,
    bos: int,
    eos: int | None,
    max_length: int,
    width: int = 5,
    n_best: int = 1,
    length_rule: LengthRule | None = None,
    refill: bool = False,
    prefix: Sequence[int] | None = None,
) -> list[tuple[float, list[int]]]:
    """Keep the `width` most probable hypotheses at each step; return the best finished ones.

    Args:
        step, state: as for `beam`, with one row: (1, V).
        bos, eos, max_length, width, n_best, length_rule, refill, prefix: as for `beam`.

    Returns:
        the n best finished hypotheses, each with its score and its tokens, the best first. Where
        fewer have a probability above zero, there are fewer.

    Raises:
        TypeError, ValueError: as `beam`.
    """
    if n_best > width:
        raise ValueError(f"n_best must be at most width, got {n_best} of a beam of {width}")
    last = begin(bos)
    check_state(state, last)
    rule = NO_RULE if length_rule is None else length_rule
    rule.check(max_length)
    forced = forced_tokens(prefix, last, eos=eos, max_length=max_length)[0].tolist()
    active, finished, room = [Written([], 0.0, state)], [], width
    for length in range(1, max_length + 1):
        candidates = [longer for written in active for longer in _grow(written, step, bos, eos)]
        if length <= len(forced):
            candidates = [
                written for written in candidates if written.tokens[-1] == forced[length - 1]
            ]
        candidates.sort(key=lambda written: written.log_prob, reverse=True)
        kept = candidates[:room]
        ended = [w for w in kept if w.tokens[-1] == eos or length == max_length]
        finished += ended
        if refill:  # the next candidates take the slots of finished hypotheses
            kept = candidates
        else:
            room -= len(ended)
        active = [written for written in kept if written.tokens[-1] != eos][:width]
    scored = [(rule.score(w.log_prob, len(w.tokens)), w.tokens) for w in finished]
    return sorted(scored, key=lambda pair: pair[0], reverse=True)[:n_best]


def _grow(written: Written, step: Step, bos: int, eos: int | None) -> list[Written]:
    """Extend a hypothesis by every token with a probability above zero."""
    last = torch.tensor(written.tokens[-1:] or [int(bos)])
    log_probs, state = advance(step, written.state, last, eos=eos)
    return [
        Written([*written.tokens, token], written.log_prob + log_prob, state)
        for token, log_prob in enumerate(log_probs[0].tolist())
        if log_prob > -torch.inf
    ]
