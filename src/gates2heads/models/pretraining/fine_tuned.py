"""A pre-trained encoder with the head of one task, as fine-tuning trains and saves it."""

from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, floats, instance, tokens, whole
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT, SEGMENTS
from gates2heads.models.pretraining.elmo import LayerMix
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead

HEADS = (SentenceHead, TokenHead, AnswerHead)


@accepts(encoder=instance(BERT), head=instance(HEADS))
class FineTuned(nn.Module):
    """A BERT, a weighted sum of its layers that the task learns, and the task's head.

    Source: Devlin et al. 2019, section 4. Departs from it in the `LayerMix`, where BERT's heads use
    the last layer; with frozen layers this is the feature-based approach of section 5.3.

    Args:
        encoder: a `BERT`.
        head: a `SentenceHead`, `TokenHead` or `AnswerHead` of its width and dtype.

    Raises:
        ValueError: the head expects vectors of another width.
    """

    def __init__(self, encoder: BERT, head: nn.Module):
        super().__init__()
        if head.width != encoder.d_model:
            raise ValueError(
                f"head must read vectors of the encoder's width {encoder.d_model}, got a head of "
                f"width {head.width}"
            )
        self.encoder, self.head = encoder, head
        self.vocabulary_size = encoder.vocabulary_size
        self.mix = LayerMix(1 + len(encoder.layers)).to(next(encoder.parameters()).dtype)

    @accepts(
        tokens=tokens("B L", below="vocabulary_size"),
        segments=whole("B L", below=SEGMENTS),
        mask=boolean_mask("B L"),
    )
    def forward(
        self, tokens: Tensor, *, segments: Tensor | None = None, mask: Tensor | None = None
    ):
        """The output of the head for tokens (B, L); segments and mask as for `BERT.states`."""
        return self.read(self.encoder.states(tokens, segments=segments, mask=mask), mask=mask)

    @accepts(states=floats("N B L D"), mask=boolean_mask("B L"))
    def read(self, states: Tensor, *, mask: Tensor | None = None):
        """The output of the head for states (num_layers + 1, B, L, D) from `BERT.states`."""
        vectors = self.mix(states)
        if isinstance(self.head, SentenceHead):
            return self.head(vectors, mask=mask)
        return self.head(vectors)
