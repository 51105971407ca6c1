"""ELMo: two language models, one in each direction, and a task-specific mix of all layers."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, floats, fraction, natural, tokens
from gates2heads.layers.record import note
from gates2heads.layers.recurrent.lstm import LSTM


@accepts(vocabulary_size=natural, hidden_size=natural, num_layers=natural, dropout=fraction)
class ELMo(nn.Module):
    """Predict each token from the preceding tokens, and separately from the following ones.

    Source: Peters et al. 2018, sections 3.1 and 3.4: the two directions share embedding and output
    projection, not the recurrent layers; the layers above the first have residual connections.
    Departs from it in token embeddings instead of convolutions over characters, and in states as
    wide as the embedding, without a projection.

    Args:
        vocabulary_size: V.
        hidden_size: width U of the token vectors and of each direction's states.
        num_layers: the number of layers of each direction.
        dropout: the fraction of each layer's input that is set to zero during training.
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
        self.width = 2 * hidden_size  # of each layer's states, the input of a task's head
        self.token_table = nn.Embedding(vocabulary_size, hidden_size)
        nn.init.normal_(self.token_table.weight, std=hidden_size**-0.5)
        self.forward_layers, self.backward_layers = (
            nn.ModuleList(LSTM(hidden_size, hidden_size) for _ in range(num_layers))
            for _ in range(2)
        )
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def states(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The hidden states of all layers in both directions, beginning with the embeddings.

        Args:
            tokens: (B, L) long, from `<bos>` to `<eos>`.
            mask: (B, L) bool, True = a real token.

        Returns:
            (num_layers + 1, B, L, 2U): in the first U dimensions no position depends on a later
            one, in the other U none on an earlier one. Layer 0 holds the token's vector twice.
        """
        mask = None if mask is None else mask.expand(tokens.shape)
        vectors = self.token_table(tokens)  # (B, L, U)
        ahead = self._run(self.forward_layers, vectors, mask)
        # In reverse order padding comes first, where the state is still zero.
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

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def encode(self, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The hidden states of the last layer of both directions: (B, L, 2U)."""
        return self.states(tokens, mask=mask)[-1]

    @accepts(tokens=tokens("B L", below="vocabulary_size"), mask=boolean_mask("B L"))
    def forward(self, tokens: Tensor, *, mask: Tensor | None = None):
        """The two language models; see `states`.

        Returns:
            logits (B, L, V), whose row t predicts `tokens[:, t + 1]`, and logits (B, L, V), whose
            row t predicts `tokens[:, t − 1]`.
        """
        ahead, back = self.encode(tokens, mask=mask).chunk(2, dim=-1)
        return self.readout(ahead), self.readout(back)


@accepts(layers=natural)
class LayerMix(nn.Module):
    """One vector per token: a weighted sum of all layers, with learned weights: γ Σⱼ sⱼ hⱼ.

    Source: Peters et al. 2018, eq. 1; s is a softmax, so the weights sum to 1. It accepts any model
    with `states`: Tenney et al. 2019 used it to find which layer of BERT encodes what. Departs from
    it in nothing; the layers are not normalised first. Records `shares` (layers,) and `scale`
    inside a `record` block.

    Args:
        layers: the number of layers, including the embeddings: num_layers + 1.
    """

    def __init__(self, layers: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))  # γ

    @property
    def shares(self) -> Tensor:
        """(layers,) float: the weight of each layer in the mix; they sum to 1."""
        return self.scores.softmax(dim=0)

    @accepts(states=floats("N B L D"))
    def forward(self, states: Tensor) -> Tensor:
        """Mix states (layers, B, L, D) into vectors (B, L, D).

        Raises:
            ValueError: the number of layers differs.
        """
        if len(states) != len(self.scores):
            raise ValueError(f"states must have {len(self.scores)} layers, got {len(states)}")
        shares = self.shares
        note(self, shares=shares, scale=self.scale)
        return self.scale * torch.einsum("n,nbld->bld", shares, states)
