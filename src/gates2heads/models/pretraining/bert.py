"""BERT: a bidirectional encoder of masked sequences. ERNIE: the same with masked entities.

Both are one model, `BERT`; they differ in what is masked. See `masking.mask_tokens`:
without `units` it is BERT's training, with the units of `masking.span_units` it is ERNIE's.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, floats, natural, tokens, whole
from gates2heads.layers.masks import key_mask
from gates2heads.layers.norms import LayerNorm
from gates2heads.models.pretraining.stack import TokenStack, check_length

SEGMENTS = 2  # the first and the second segment


@accepts(vocabulary_size=natural)
class BERT(TokenStack):
    """A bidirectional encoder that predicts masked tokens, and whether segment B follows A.

    Source: Devlin et al. 2019, section 3. Departs from it in small sizes, and in an `eps` of 1e-5
    in its norms.

    Args:
        vocabulary_size: V, with [MASK]; see `Markers.size`.
        **sizes: those of a `TokenStack`; its layers are post-norm.
    """

    def __init__(self, vocabulary_size: int, **sizes):
        super().__init__(vocabulary_size, norm_first=False, **sizes)
        d_model = self.d_model
        self.segment_table = nn.Embedding(SEGMENTS, d_model)
        self.norm = LayerNorm(d_model)
        self.pooler = nn.Linear(d_model, d_model)
        self.next_readout = nn.Linear(d_model, 2)
        self.transform = nn.Linear(d_model, d_model)
        self.transform_norm = LayerNorm(d_model)
        self.readout_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.draw_weights()

    @accepts(
        tokens=tokens("B L", below="vocabulary_size"),
        segments=whole("B L", below=SEGMENTS),
        mask=boolean_mask("B L"),
    )
    def states(
        self, tokens: Tensor, *, segments: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """The hidden states of all layers, beginning with the embeddings.

        Args:
            tokens: (B, L) long, from [CLS] to [SEP].
            segments: (B, L) long, 0 in the first segment and 1 in the second; 0 if not given.
            mask: (B, L) bool, True = a real token.

        Returns:
            (num_layers + 1, B, L, D).
        """
        return torch.stack(self._layer_states(tokens, segments, mask))

    def _layer_states(
        self, tokens: Tensor, segments: Tensor | None, mask: Tensor | None
    ) -> list[Tensor]:
        """The states one by one, each (B, L, D)."""
        check_length("tokens", tokens, self.max_length)
        segments = torch.zeros_like(tokens) if segments is None else segments
        vectors = self.positions(self.token_table(tokens) + self.segment_table(segments))
        vectors = F.dropout(self.norm(vectors), self.dropout, self.training)
        states = [vectors]
        for layer in self.layers:
            states.append(layer(states[-1], mask=key_mask(mask)))
        return states

    @accepts(
        tokens=tokens("B L", below="vocabulary_size"),
        segments=whole("B L", below=SEGMENTS),
        mask=boolean_mask("B L"),
    )
    def encode(
        self, tokens: Tensor, *, segments: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """The hidden states of the last layer: (B, L, D); see `states`."""
        return self._layer_states(tokens, segments, mask)[-1]

    @accepts(vectors=floats("… d_model", empty=False))
    def readout(self, vectors: Tensor) -> Tensor:
        """Logits (…, V) of the masked token, from its vector (…, D).

        The matrix of the output projection is the embedding matrix.
        """
        hidden = self.transform_norm(F.gelu(self.transform(vectors)))
        return F.linear(hidden, self.token_table.weight, self.readout_bias)

    @accepts(vectors=floats("B L d_model", empty=False))
    def follows(self, vectors: Tensor) -> Tensor:
        """Whether the second segment follows the first, from the vector at [CLS] of (B, L, D).

        Returns:
            logits (B, 2): no, yes.
        """
        return self.next_readout(torch.tanh(self.pooler(vectors[:, 0])))

    @accepts(
        tokens=tokens("B L", below="vocabulary_size"),
        segments=whole("B L", below=SEGMENTS),
        mask=boolean_mask("B L"),
    )
    def forward(
        self, tokens: Tensor, *, segments: Tensor | None = None, mask: Tensor | None = None
    ):
        """The outputs for both pre-training tasks; see `states`.

        Returns:
            logits (B, L, V) for each token, and logits (B, 2): does not follow, follows.
        """
        vectors = self.encode(tokens, segments=segments, mask=mask)
        return self.readout(vectors), self.follows(vectors)
