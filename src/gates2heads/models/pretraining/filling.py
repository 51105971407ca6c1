"""Fill gaps: what a model that sees both sides says of each hidden place, all of them at once."""

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_filled, check_mask, check_tokens
from gates2heads.data.batches.joined import Markers
from gates2heads.models.pretraining.bert import BERT


def fill_gaps(
    model: BERT,
    tokens: Tensor,
    gaps: Tensor,
    *,
    markers: Markers,
    segments: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Hide the gaps behind [MASK], and ask what stands there.

    Each gap is answered by itself: of two halves of a name, neither knows what the other became.

    Args:
        model: a `BERT`.
        tokens: (B, L) long, from [CLS] to [SEP]; what stands in a gap is not read.
        gaps: (B, L) bool, True = hidden.
        markers: what the special tokens are.
        segments, mask: as for `BERT.states`.

    Returns:
        log_probs (N, V) of the N gaps, in reading order.

    Raises:
        TypeError, ValueError: no gap, a gap at a special token, or an argument does not fit.
    """
    if not isinstance(model, BERT):
        raise TypeError(f"model must be a BERT, got {shown(model)}")
    if not isinstance(markers, Markers):
        raise TypeError(f"markers must be Markers, got {shown(markers)}")
    check_tokens("tokens", tokens, markers.size)
    places = _check_gaps(tokens, gaps, markers)
    vectors = model.encode(tokens.masked_fill(places, markers.mask), segments=segments, mask=mask)
    return model.readout(vectors[places]).log_softmax(dim=-1)


def _check_gaps(tokens: Tensor, gaps: Tensor, markers: Markers) -> Tensor:
    """The gaps as (B, L), refused where nothing may be hidden."""
    fixed = (tokens == markers.pad) | (tokens == markers.cls) | (tokens == markers.sep)
    if not isinstance(gaps, Tensor) or gaps.dtype != torch.bool:
        raise TypeError(f"gaps must be a bool tensor, True = hidden, got {shown(gaps)}")
    check_filled("gaps", gaps)
    check_mask(gaps, tokens.shape, name="gaps", like=tokens)
    places = gaps.expand(tokens.shape)
    if not places.any():
        raise ValueError("gaps hides no token at all, so there is nothing to fill")
    if (places & fixed).any():
        raise ValueError("gaps must be False at padding and at [CLS] and [SEP]")
    return places
