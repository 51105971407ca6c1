"""The Universal Transformer: one layer, applied repeatedly."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.positions import sinusoids
from gates2heads.layers.transformer_layers import DecoderLayer, EncoderLayer
from gates2heads.models.transformer.transformer import Transformer


class UniversalTransformer(Transformer):
    """One encoder layer and one decoder layer, each applied repeatedly.

    Source: Dehghani et al. 2019, section 2.1: depth is a recurrence in which every position is
    revised in parallel; encodings of position and depth are added before each application, eq. 6.
    Departs from it in a fixed number of applications: the adaptive halting of its section 2.2 is
    left out.

    Takes the arguments of `Transformer`; `num_encoder_layers` and `num_decoder_layers` are the
    numbers of applications.
    """

    def _build_layers(self, encoder_depth: int, decoder_depth: int, sizes, options) -> None:
        super()._build_layers(1, 1, sizes, options)
        self.encoder_applications, self.decoder_applications = encoder_depth, decoder_depth

    def _encoder_stack(self) -> list[EncoderLayer]:
        return [self.encoder_layers[0]] * self.encoder_applications

    def _decoder_stack(self) -> list[DecoderLayer]:
        return [self.decoder_layers[0]] * self.decoder_applications

    def _memory(self, vectors: Tensor) -> tuple[KeyValues, ...]:
        return super()._memory(vectors) * self.decoder_applications  # the same for each application

    def _add_positions(self, vectors: Tensor, positions: nn.Module, *, depth: int, start: int = 0):
        application = torch.tensor(float(depth), dtype=vectors.dtype, device=vectors.device)
        vectors = positions(vectors, start=start)
        vectors = vectors + sinusoids(application, self.d_model)
        return vectors if depth else F.dropout(vectors, self.dropout, self.training)
