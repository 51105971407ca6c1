"""Repetition penalties: the tokens generated so far change the next-token distribution."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, natural, number, whole
from gates2heads.decoding.steps import Step

Adjust = Callable[[Tensor, Tensor], Tensor]  # log_probs (B, V), tokens (B, T) -> log_probs (B, V)


@accepts(log_probs=floats("B V"), tokens=whole("B T"), penalty=number(least=1))
def penalise_repetition(log_probs: Tensor, tokens: Tensor, penalty: float) -> Tensor:
    """Lower the probability of every token that was generated before.

    Source: Keskar et al. 2019, section 4.1 (CTRL), who divide a token's logit by the penalty. Here
    log-probabilities are multiplied, since they are at most 0.

    Args:
        log_probs: (B, V) float, normalised.
        tokens: (B, T) long, what was generated; numbers from V on, such as a <bos> without a
            column, are ignored.
        penalty: from 1, which changes nothing; 1.2 is common.

    Returns:
        log_probs (B, V), normalised.
    """
    size = log_probs.shape[1]
    seen = torch.zeros(len(tokens), size + 1, dtype=torch.bool, device=log_probs.device)
    seen.scatter_(1, tokens.clamp(max=size), True)  # the last column is for numbers without one
    seen = seen[:, :size]
    return torch.where(seen, log_probs * penalty, log_probs).log_softmax(dim=-1)


@accepts(log_probs=floats("B V"), tokens=whole("B T"), order=natural)
def block_repeated_ngrams(log_probs: Tensor, tokens: Tensor, order: int) -> Tensor:
    """Give probability zero to every token that would complete an n-gram for the second time.

    Source: Paulus et al. 2018, section 2.5, who block trigrams.

    Args:
        log_probs: (B, V) float.
        tokens: (B, T) long, what was generated.
        order: n; 1 blocks every token that was generated before.

    Returns:
        log_probs (B, V), normalised; a row in which every token is blocked is unchanged.
    """
    blocked = torch.zeros_like(log_probs, dtype=torch.bool)
    for row, written in enumerate(tokens.tolist()):
        suffix = written[len(written) - order + 1 :]
        for start in range(len(written) - order + 1):
            if written[start : start + order - 1] == suffix:
                last = written[start + order - 1]
                blocked[row, last : last + 1] = True  # nothing, if there is no such column
    allowed = log_probs.masked_fill(blocked, -torch.inf)
    stuck = (allowed == -torch.inf).all(dim=-1, keepdim=True)
    return torch.where(stuck, log_probs, allowed).log_softmax(dim=-1)


def adjusted(step: Step, adjust: Adjust) -> Step:
    """Let the generated tokens change the step function's log-probabilities.

    Args:
        step: a step function.
        adjust: (log_probs (B, V), tokens (B, T)) -> log_probs (B, V), such as
            `lambda log_probs, tokens: block_repeated_ngrams(log_probs, tokens, 3)`; the first of
            the tokens is <bos>.

    Returns:
        a step function, whose first state is `history(state, B)`.
    """

    def changed(state: tuple[Any, Tensor], last_tokens: Tensor) -> tuple[Tensor, Any]:
        inner, written = state
        log_probs, inner = step(inner, last_tokens)
        written = torch.cat([written, last_tokens[:, None]], dim=1)
        return adjust(log_probs, written), (inner, written)

    return changed


@accepts(size=natural)
def history(state: Any, size: int = 1) -> tuple[Any, Tensor]:
    """The first state of a step function that `adjusted` made.

    Args:
        state: the first state of the step function inside it.
        size: B.

    Returns:
        That state, and the tokens generated so far: none, (B, 0) long.
    """
    return state, torch.zeros(size, 0, dtype=torch.long)
