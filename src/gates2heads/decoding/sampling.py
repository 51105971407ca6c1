"""Sampling: each token is sampled from the model's distribution or a truncated one."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gates2heads.accepts import accepts, floats, fraction, generator, instance, natural, positive
from gates2heads.decoding.search import Output, follow
from gates2heads.decoding.steps import SEARCH, Step
from gates2heads.decoding.trace import Tree

ROWS = floats("… V", empty=False)  # one distribution in each row


@accepts(log_probs=ROWS, temperature=positive)
def temper(log_probs: Tensor, temperature: float) -> Tensor:
    """Sharpen (below 1) or flatten (above 1) distributions: p^(1/temperature), normalised.

    Towards 0 all probability goes to the most probable token; towards infinity all tokens of
    positive probability become equally probable.

    Args:
        log_probs: (…, V) float; need not be normalised.
        temperature: above 0.

    Returns:
        log_probs (…, V), normalised.

    Raises:
        ValueError: log_probs hold NaN, or allow no token in some row.
    """
    _check_rows(log_probs)
    # The largest becomes 0 first, or dividing by a tiny number would overflow.
    gaps = log_probs - log_probs.amax(dim=-1, keepdim=True)
    limits = torch.finfo(gaps.dtype)
    if not limits.tiny <= temperature <= limits.max:  # it would be rounded to 0 or infinity
        gaps = gaps.double()
    return (gaps / float(temperature)).log_softmax(dim=-1).type_as(log_probs)


@accepts(log_probs=ROWS, k=natural)
def keep_top_k(log_probs: Tensor, k: int) -> Tensor:
    """Keep the k most probable tokens and set the others to probability zero.

    Source: Fan et al. 2018, section 5.1. Of equally probable tokens, the first are kept.

    Args:
        log_probs: (…, V) float.
        k: at least 1; from V on, nothing changes.

    Returns:
        log_probs (…, V), normalised.

    Raises:
        ValueError: as for `temper`.
    """
    _check_rows(log_probs)
    return _keep_first(log_probs, torch.arange(log_probs.shape[-1], device=log_probs.device) < k)


@accepts(log_probs=ROWS, p=fraction)
def keep_top_p(log_probs: Tensor, p: float) -> Tensor:
    """Keep the smallest set of most probable tokens with total probability at least p: the nucleus.

    Source: Holtzman et al. 2020, eq. 2–3.

    Args:
        log_probs: (…, V) float.
        p: from 0, which keeps one token, to 1, which keeps all.

    Returns:
        log_probs (…, V), normalised.

    Raises:
        ValueError: as for `temper`.
    """
    _check_rows(log_probs)
    if p == 1:  # or rounding in the sum might drop the last tokens
        return log_probs.log_softmax(dim=-1)
    ranked = log_probs.softmax(dim=-1).sort(dim=-1, descending=True, stable=True).values
    before = ranked.cumsum(dim=-1) - ranked  # the mass of the more probable tokens
    kept = before < p
    kept[..., 0] = True
    return _keep_first(log_probs, kept)


@accepts(log_probs=ROWS, p=fraction)
def keep_min_p(log_probs: Tensor, p: float) -> Tensor:
    """Keep the tokens that are at least p times as probable as the most probable one.

    Source: Nguyen et al. 2024, algorithm 1 (min-p).

    Args:
        log_probs: (…, V) float.
        p: from 0, which keeps all tokens, to 1, which keeps the most probable.

    Returns:
        log_probs (…, V), normalised.

    Raises:
        ValueError: as for `temper`.
    """
    _check_rows(log_probs)
    probs = log_probs.softmax(dim=-1)
    kept = probs >= p * probs.amax(dim=-1, keepdim=True)
    return log_probs.masked_fill(~kept, -torch.inf).log_softmax(dim=-1)


@accepts(log_probs=ROWS, temperature=positive, top_k=natural, top_p=fraction, min_p=fraction)
def narrow(
    log_probs: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """Apply temperature, top-k, top-p and min-p, in this order, as far as given.

    Args:
        log_probs: (…, V) float.
        temperature: above 0; see `temper`.
        top_k: see `keep_top_k`.
        top_p: see `keep_top_p`.
        min_p: see `keep_min_p`.

    Returns:
        log_probs (…, V), normalised.

    Raises:
        ValueError: as for those four.
    """
    log_probs = temper(log_probs, temperature)
    if top_k is not None:
        log_probs = keep_top_k(log_probs, top_k)
    if top_p is not None:
        log_probs = keep_top_p(log_probs, top_p)
    if min_p is not None:
        log_probs = keep_min_p(log_probs, min_p)
    return log_probs


@accepts(
    **SEARCH,
    temperature=positive,
    top_k=natural,
    top_p=fraction,
    min_p=fraction,
    generator=generator,
    pad=natural(least=0),
    trace=instance(Tree),
)
def sample(
    step: Step,
    state: Any,
    *,
    bos: Tensor | int,
    eos: int | None,
    max_length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: torch.Generator | None = None,
    prefix: Tensor | Sequence[int] | None = None,
    pad: int = 0,
    trace: Tree | None = None,
) -> Output:
    """Sample one sequence for each source, token by token.

    The distribution is modified in the order temperature, top-k, top-p, min-p. The returned
    `log_prob` is the model's own, not that of the modified distribution, so that samples of
    different settings can be compared.

    Args:
        step, state, bos, eos, max_length, prefix, pad, trace: as for `greedy`.
        temperature: above 0; see `temper`. For the most probable token at each step, use `greedy`.
        top_k: number of tokens to sample from; see `keep_top_k`.
        top_p: probability mass of the tokens to sample from; see `keep_top_p`.
        min_p: least probability of the tokens to sample from, as a share of that of the most
            probable one; see `keep_min_p`.
        generator: for reproducible samples; torch's global generator if not given.

    Raises:
        TypeError, ValueError: as for `greedy`; or the step function allows no token.
    """
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}

    def draw(log_probs: Tensor, finished: Tensor) -> Tensor:
        # A finished row may allow no token; the sample there is not used.
        log_probs = log_probs.masked_fill(finished[:, None], 0.0)
        narrowed = narrow(log_probs, **how)
        return torch.multinomial(narrowed.exp(), 1, generator=generator)[:, 0]

    return follow(
        draw,
        step,
        state,
        bos=bos,
        eos=eos,
        max_length=max_length,
        prefix=prefix,
        pad=pad,
        trace=trace,
    )


def _keep_first(log_probs: Tensor, kept: Tensor) -> Tensor:
    """Keep the tokens at the `kept` ranks, most probable first, and normalise."""
    order = log_probs.sort(dim=-1, descending=True, stable=True).indices
    kept = torch.zeros_like(log_probs, dtype=torch.bool).scatter(
        -1, order, kept.expand_as(log_probs)
    )
    return log_probs.masked_fill(~kept, -torch.inf).log_softmax(dim=-1)


def _check_rows(log_probs: Tensor) -> None:
    top = log_probs.amax(dim=-1)
    if not top.isfinite().all():
        raise ValueError(
            "log_probs must allow at least one token in every row and hold no NaN or infinity, "
            f"got a row whose highest is {top[~top.isfinite()][0].item()}"
        )
