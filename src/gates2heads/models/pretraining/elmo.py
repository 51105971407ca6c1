"""ELMo: two language models, one from each end, and a mix of all their layers for each task."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, count, floats, mask, share, tokens
from gates2heads.layers.record import note
from gates2heads.layers.recurrent.lstm import LSTM


@accepts(vocabulary_size=count, hidden_size=count, num_layers=count, dropout=share)
class ELMo(nn.Module):
    """Predict each token from those before it, and once more from those after it.

    Source: Peters et al. 2018, sections 3.1 and 3.4: the two directions share embedding and
    readout, not the recurrent layers; the layers above the first add to what they read. Departs
    from it in tokens from a table instead of characters through convolutions, and in states as wide
    as the embedding, without a projection.

    Args:
        vocabulary_size: V.
        hidden_size: width U of the token vectors and of each direction's states.
        num_layers: how deep each direction is.
        dropout: how much of what a layer reads is set to zero while training.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        hidden_size: int = 128,
        num_layers: int = 2,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.vocabulary_size, self.hidden_size = vocabulary_size, hidden_size
        self.dropout = dropout
        self.width = 2 * hidden_size  # of each layer's states, which a task reads
        self.token_table = nn.Embedding(vocabulary_size, hidden_size)
        nn.init.normal_(self.token_table.weight, std=hidden_size**-0.5)
        self.forward_layers, self.backward_layers = (
            nn.ModuleList(LSTM(hidden_size, hidden_size) for _ in range(num_layers))
            for _ in range(2)
        )
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=mask("B L"))
    def states(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """What each layer of both directions makes of the tokens, the embeddings first.

        Args:
            tokens: (B, L) long, from `<bos>` to `<eos>`.
            mask: (B, L) bool, True = a real token.

        Returns:
            (num_layers + 1, B, L, 2U): in the first U numbers no position depends on a later one,
            in the other U none on an earlier one. Layer 0 holds the token's vector twice.
        """
        mask = None if mask is None else mask.expand(tokens.shape)
        vectors = self.token_table(tokens)  # (B, L, U)
        ahead = self._run(self.forward_layers, vectors, mask)
        # Read from the end: padding comes first then, where the state is still zero.
        turned = None if mask is None else mask.flip(1)
        back = self._run(self.backward_layers, vectors.flip(1), turned).flip(2)
        return torch.cat([ahead, back], dim=-1)

    def _run(self, layers: nn.ModuleList, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """One direction: (num_layers + 1, B, L, U)."""
        states = [vectors]
        for depth, layer in enumerate(layers):
            read = F.dropout(states[-1], self.dropout, self.training)
            written, _ = layer(read, mask=mask)
            states.append(written + read if depth else written)
        return torch.stack(states)

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=mask("B L"))
    def encode(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """What the last layer of both directions makes of the tokens: (B, L, 2U)."""
        return self.states(tokens, mask=mask)[-1]

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=mask("B L"))
    def forward(self, tokens: Tensor, *, mask: Tensor | None = None):
        """The two language models; see `states`.

        Returns:
            logits (B, L, V), whose row t predicts `tokens[:, t + 1]`, and logits (B, L, V), whose
            row t predicts `tokens[:, t − 1]`.
        """
        ahead, back = self.encode(tokens, mask=mask).chunk(2, dim=-1)
        return self.readout(ahead), self.readout(back)


@accepts(layers=count)
class LayerMix(nn.Module):
    """One vector a token from all layers, in shares that the task learns: γ Σⱼ sⱼ hⱼ.

    Source: Peters et al. 2018, eq. 1; s is a softmax, so the shares sum to 1. Of any model with
    `states`: Tenney et al. 2019 read off BERT in this way which layer knows what. Departs from
    it in nothing; the layers are not normalised first. Notes `shares` (layers,) and `scale`
    when somebody records.

    Args:
        layers: how many there are, the embeddings included: num_layers + 1.
    """

    def __init__(self, layers: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))  # γ

    @property
    def shares(self) -> Tensor:
        """(layers,) float: how much of each layer is in the mix; they sum to 1."""
        return self.scores.softmax(dim=0)

    @accepts(states=floats("N B L D"))
    def forward(self, states: Tensor) -> Tensor:
        """Mix states (layers, B, L, D) into vectors (B, L, D).

        Raises:
            ValueError: there is another number of layers.
        """
        if len(states) != len(self.scores):
            raise ValueError(f"states must have {len(self.scores)} layers, got {len(states)}")
        shares = self.shares
        note(self, shares=shares, scale=self.scale)
        return self.scale * torch.einsum("n,nbld->bld", shares, states)
