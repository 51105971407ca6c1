"""Masking: single tokens as in BERT, whole words and entities as in ERNIE.

A *unit* is a group of tokens that are masked together. `units` (B, L) long gives, for each
position, the position at which its unit begins, and −1 where masking is not allowed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, bools, fraction, generator, instance, tokens, whole
from gates2heads.accepts.shown import shown
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.spans import Span, check_spans

ALLOWED, UNITS = bools("B L", empty=False), whole("B L", empty=False)
MARKERS = instance(Markers, "such as `Markers.of(vocabulary)`")


class Masked(NamedTuple):
    """The model's input, and its targets."""

    tokens: Tensor  # (B, L) long, with some tokens masked
    targets: Tensor  # (B, L) long, unmasked
    chosen: Tensor  # (B, L) bool, True = the model predicts the token here


@accepts(allowed=ALLOWED)
def token_units(allowed: Tensor) -> Tensor:
    """Every token that may be masked is its own unit.

    Args:
        allowed: (B, L) bool, True = may be masked; see `Markers.ordinary`.

    Returns:
        units (B, L) long.
    """
    places = torch.arange(allowed.shape[1], device=allowed.device).expand(allowed.shape)
    return places.masked_fill(~allowed, -1)


@accepts(allowed=ALLOWED)
def span_units(allowed: Tensor, spans: Sequence[Sequence[Span]]) -> Tensor:
    """Each span is a unit, an entity for instance; so is every token outside the spans.

    Source: Sun et al. 2019 (ERNIE), sections 3.2.2 and 3.2.3.

    Args:
        allowed: (B, L) bool, True = may be masked.
        spans: for each of the B sequences its spans (start, end), which must not overlap and must
            contain only tokens that may be masked.

    Returns:
        units (B, L) long.

    Raises:
        TypeError, ValueError: a span is not a pair of positions, or is not allowed.
    """
    units = token_units(allowed)
    if isinstance(spans, str) or not isinstance(spans, Sequence) or len(spans) != len(allowed):
        raise ValueError(
            f"spans must hold {len(allowed)} lists, one a sequence, got {shown(spans)}"
        )
    free = allowed.clone()
    for row, some in enumerate(spans):
        check_spans(f"spans[{row}]", some)
        for start, end in some:
            if end > allowed.shape[1] or not free[row, start:end].all():
                raise ValueError(
                    f"spans[{row}] holds ({start}, {end}), which overlaps another span or reaches "
                    "a token that may not be hidden"
                )
            free[row, start:end] = False
            units[row, start:end] = start
    return units


@accepts(units=UNITS, share=fraction, generator=generator)
def choose_units(
    units: Tensor, share: float = 0.15, *, generator: torch.Generator | None = None
) -> Tensor:
    """Sample units until a given fraction of the tokens that may be masked is chosen.

    Source: Devlin et al. 2019, section 3.1: 15 %. As in its code, the number is exact: the fraction
    of each sequence's tokens, rounded, and at least one. Departs from it where a unit is longer
    than what is left: the last unit is included if at least half of it fits, so that the choice is
    not biased towards long or short units. The first one is always included.

    Args:
        units: (B, L) long; see the docstring of this module.
        share: the fraction of tokens, from 0 to 1.
        generator: random numbers; None uses PyTorch's global generator.

    Returns:
        chosen (B, L) bool. A unit is chosen whole, or not at all; a row without units is all False.
    """
    _check_units(units)
    real = units >= 0
    quota = (share * real.sum(dim=1, keepdim=True)).round()  # (B, 1)
    sizes = torch.zeros_like(units).scatter_add_(1, units.clamp(min=0), real.long())  # (B, L)
    order = torch.rand(units.shape, generator=generator, device=units.device).argsort(dim=1)
    drawn = sizes.gather(1, order)  # the units' sizes in the order of sampling
    before = drawn.cumsum(dim=1) - drawn
    taken = (before == 0) | (before + drawn / 2 <= quota)
    taken = torch.zeros_like(real).scatter_(1, order, taken)  # back to the units' own positions
    return taken.gather(1, units.clamp(min=0)) & real


@accepts(tokens=tokens("B L"), units=UNITS, chosen=ALLOWED, markers=MARKERS, generator=generator)
def hide(
    tokens: Tensor,
    units: Tensor,
    chosen: Tensor,
    *,
    markers: Markers,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Hide what was chosen: 80 % as [MASK], 10 % as random tokens; 10 % stay as they are.

    Source: Devlin et al. 2019, section 3.1 and appendix A.1. The replacement is sampled once per
    unit, as in Joshi et al. 2020 (SpanBERT), section 3.1, so that one half of a name does not
    reveal the other half; with units of one token this is BERT's rule.

    Args:
        tokens, units: (B, L) long.
        chosen: (B, L) bool, from `choose_units`.
        markers: the special tokens.
        generator: random numbers; None uses PyTorch's global generator.

    Returns:
        tokens (B, L) long; the input is not changed.
    """
    _check_read(tokens, markers)
    _check_units(units)
    if (chosen & ~((units >= 0) & markers.ordinary(tokens))).any():
        raise ValueError("chosen must be False at special tokens and outside of units")
    options = {"generator": generator, "device": tokens.device}
    lot = torch.rand(tokens.shape, **options).gather(1, units.clamp(min=0))  # one draw per unit
    others = torch.randint(markers.specials, markers.words, tokens.shape, **options)
    hidden = tokens.masked_fill(chosen & (lot < 0.8), markers.mask)
    return torch.where(chosen & (lot >= 0.8) & (lot < 0.9), others.to(tokens.dtype), hidden)


@accepts(tokens=tokens("B L"), markers=MARKERS, units=UNITS, share=fraction, generator=generator)
def mask_tokens(
    tokens: Tensor,
    *,
    markers: Markers,
    units: Tensor | None = None,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> Masked:
    """Choose units and mask them: BERT's masking, or ERNIE's where `units` are words or spans.

    Args:
        tokens: (B, L) long.
        markers: the special tokens; they and padding are never chosen.
        units: (B, L) long; every ordinary token for itself if not given.
        share: the fraction of the ordinary tokens that is chosen.
        generator: random numbers; None uses PyTorch's global generator.
    """
    _check_read(tokens, markers)
    units = token_units(markers.ordinary(tokens)) if units is None else units
    _check_units(units)
    chosen = choose_units(units, share, generator=generator)
    hidden = hide(tokens, units, chosen, markers=markers, generator=generator)
    return Masked(hidden, tokens, chosen)


def _check_read(read: Tensor, markers: Markers) -> None:
    """Reject tokens that are unknown to the markers."""
    tokens("B L", below=markers.size).check("tokens", read)


def _check_units(units: Tensor) -> None:
    """Reject values that are neither a position of the sequence nor −1."""
    if units.min() < -1 or units.max() >= units.shape[1]:
        raise ValueError(
            f"units must hold positions 0 to {units.shape[1] - 1}, or −1, got {int(units.max())} "
            f"and {int(units.min())}"
        )
