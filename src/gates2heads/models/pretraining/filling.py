"""Predict masked tokens with a bidirectional model, all masked positions in parallel."""

from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, instance, tokens
from gates2heads.data.batches.joined import Markers
from gates2heads.models.pretraining.bert import BERT


@accepts(
    model=instance(BERT),
    tokens=tokens("B L"),
    gaps=boolean_mask("B L"),
    markers=instance(Markers),
)
def fill_gaps(
    model: BERT,
    tokens: Tensor,
    gaps: Tensor,
    *,
    markers: Markers,
    segments: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Replace the gaps by [MASK], and predict the tokens there.

    Gaps are predicted independently: the prediction of one half of a name does not depend on that
    of the other half.

    Args:
        model: a `BERT`.
        tokens: (B, L) long, from [CLS] to [SEP]; the tokens in a gap are ignored.
        gaps: (B, L) bool, True = masked.
        markers: the special tokens.
        segments, mask: as for `BERT.states`.

    Returns:
        log_probs (N, V) of the N gaps, in reading order.

    Raises:
        ValueError: no gap, or a gap at a special token.
    """
    places = gaps.expand(tokens.shape)
    _check_gaps(tokens, places, markers)
    vectors = model.encode(tokens.masked_fill(places, markers.mask), segments=segments, mask=mask)
    return model.readout(vectors[places]).log_softmax(dim=-1)


def _check_gaps(tokens: Tensor, places: Tensor, markers: Markers) -> None:
    """Reject gaps (B, L) where no token may be masked."""
    fixed = (tokens == markers.pad) | (tokens == markers.cls) | (tokens == markers.sep)
    if not places.any():
        raise ValueError("gaps masks no token, so there is nothing to fill")
    if (places & fixed).any():
        raise ValueError("gaps must be False at padding and at [CLS] and [SEP]")
