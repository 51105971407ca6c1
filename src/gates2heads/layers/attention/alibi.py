"""Attention with linear biases: the scores fall with the distance, more steeply in some heads."""

import math

from torch import Tensor, nn

from gates2heads.accepts import accepts, floats, natural
from gates2heads.layers.attention.heads import head_width, join_heads, split_heads
from gates2heads.layers.masks import causal_mask, masked_softmax
from gates2heads.layers.positions import alibi_bias
from gates2heads.layers.record import note


@accepts(embed_dim=natural, num_heads=natural)
class ALiBiAttention(nn.Module):
    """Causal multi-head self-attention with linear biases (ALiBi) and no other positions.

    Source: Press et al. 2022, section 3: softmax(Q Kᵀ / √K - m (i - j)) V in each head, with the
    slopes m of `alibi_slopes`, which are not learned. Departs from it in nothing. Records `weights`
    (B, H, S, S) inside a `record` block.

    Args:
        embed_dim: width D of the input and output.
        num_heads: H, which must divide D.
    """

    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        head_width(embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.xavier_uniform_(self.in_proj.weight)
        for projection in (self.in_proj, self.out_proj):
            nn.init.zeros_(projection.bias)

    @accepts(inputs=floats("B S embed_dim"))
    def forward(self, inputs: Tensor) -> Tensor:
        """Attend from each position to itself and to those before it: (B, S, D) -> (B, S, D)."""
        heads = split_heads(self.in_proj(inputs), 3 * self.num_heads)  # (B, 3H, S, K)
        queries, keys, values = heads.chunk(3, dim=1)  # (B, H, S, K) each
        length, width = queries.shape[2:]
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(width)  # (B, H, S, S)
        bias = self.bias(length).to(scores)  # (H, S, S)
        mask = causal_mask(length, device=inputs.device)  # (S, S)
        weights = masked_softmax(scores + bias, mask=mask)  # (B, H, S, S)
        note(self, weights=weights)
        return self.out_proj(join_heads(weights @ values))

    def bias(self, length: int) -> Tensor:
        """What is added to the scores of S positions: (H, S, S)."""
        return alibi_bias(self.num_heads, length)
