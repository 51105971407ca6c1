"""Encoders of the source: each returns a state for every position, and one summary."""

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, bools, choice, flag, fraction, listed, natural, tokens
from gates2heads.layers.blocks import convolution_blocks
from gates2heads.layers.initialization import keep_variance
from gates2heads.layers.positions import LearnedPositions
from gates2heads.layers.recurrent.by_name import CELLS, blank, recurrent_layer, run
from gates2heads.models.translation.checks import check_halves

SOURCE = tokens("B S", below="embedding.num_embeddings")
DILATIONS = listed("whole numbers", kind=natural, least=1)


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    cell=choice(CELLS),
    num_layers=natural,
    bidirectional=flag,
    dropout=fraction,
)
class RecurrentEncoder(nn.Module):
    """Encode the source with a recurrent network, in one or both directions, one or more layers.

    Source: Sutskever et al. 2014, section 2 (LSTM, four layers); Cho et al. 2014 (GRU); Bahdanau
    et al. 2015, section 3.2 (both directions). Departs from the last in the width: each direction
    has U/2 units, so that the joined state is as wide as the decoder's.

    Args:
        vocabulary_size: V of the source.
        embedding_size: width of the token vectors.
        hidden_size: width U of the states, of both directions together.
        cell: "rnn", "gru" or "lstm".
        num_layers: layer l receives the output of layer l − 1.
        bidirectional: a second set of units processes the sequence in reverse.
        dropout: on token vectors and between layers.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        *,
        cell: str = "gru",
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        if bidirectional:
            check_halves(hidden_size)
        self.hidden_size, self.dropout = hidden_size, dropout
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        units = hidden_size // 2 if bidirectional else hidden_size
        self.recurrent = recurrent_layer(
            cell, embedding_size, units, num_layers, bidirectional=bidirectional, dropout=dropout
        )

    @accepts(source=SOURCE, mask=bools("B S"))
    def forward(self, source: Tensor, *, mask: Tensor):
        """Encode source (B, S) under mask (B, S).

        Returns:
            states (B, S, U) of the last layer, and the summary (B, U): the last layer's state
            after the last real token, and with it that of the other direction after the first.
        """
        vectors = F.dropout(self.embedding(source), self.dropout, self.training)
        states, carried = run(
            self.recurrent, vectors, blank(self.recurrent, len(source)), mask=mask
        )
        directions = 1 + self.recurrent.bidirectional
        return states, carried[0][:, -directions:].flatten(1)  # (B, directions, U/directions)


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    kernel_size=natural,
    dilations=DILATIONS,
    dropout=fraction,
    max_length=natural,
)
class ConvolutionalEncoder(nn.Module):
    """Encode the source with a stack of convolutions: every layer widens the receptive field.

    Source: Gehring et al. 2017, section 3.2, initial weights as in section 3.5. Departs from it in
    the dilations (van den Oord et al. 2016), in omitting weight normalisation, and in the
    summary, which the paper's decoder does not need.

    Args:
        vocabulary_size: V of the source.
        embedding_size: width of the token vectors.
        hidden_size: width U of the states.
        kernel_size: the number of positions in one convolution's window; odd.
        dilations: the distance between neighbours in the window, one number for each layer.
        dropout: on token vectors and on the input of each convolution.
        max_length: the longest source that has position vectors.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        *,
        kernel_size: int = 3,
        dilations: Sequence[int] = (1, 1, 1),
        dropout: float = 0.0,
        max_length: int = 512,
    ):
        super().__init__()
        self.hidden_size, self.dropout = hidden_size, dropout
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.positions = LearnedPositions(max_length, embedding_size)
        self.project = nn.Linear(embedding_size, hidden_size)
        self.blocks = convolution_blocks(
            hidden_size, kernel_size, dilations, causal=False, dropout=dropout
        )
        for table in (self.embedding.weight, self.positions.table):
            nn.init.normal_(table, std=0.1)
        keep_variance(self.project, dropout=dropout)

    @property
    def receptive_field(self) -> int:
        """The receptive field of one state in tokens: 1 + Σ (kernel_size − 1) · dilation."""
        return 1 + sum(block.reach for block in self.blocks)

    @accepts(source=SOURCE, mask=bools("B S"))
    def forward(self, source: Tensor, *, mask: Tensor):
        """Encode source (B, S) under mask (B, S).

        Returns:
            states (B, S, U), and the summary (B, U): the mean of the states of the real tokens,
            zero where there is none.
        """
        vectors = self.positions(self.embedding(source))
        states = self.project(F.dropout(vectors, self.dropout, self.training))
        for block in self.blocks:
            states = block(states, mask=mask)
        real = mask[..., None]  # (B, S, 1)
        total = states.masked_fill(~real, 0.0).sum(dim=1)  # (B, U)
        return states, total / real.sum(dim=1).clamp_min(1)
