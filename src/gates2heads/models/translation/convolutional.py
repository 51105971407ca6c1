"""A convolutional decoder: in training, all positions are computed in parallel."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, fraction, natural
from gates2heads.layers.attention.scores import DotScore
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.blocks import convolution_blocks
from gates2heads.layers.initialization import keep_variance
from gates2heads.layers.positions import LearnedPositions
from gates2heads.models.translation.encoders import DILATIONS
from gates2heads.models.translation.memory import Memory


class ConvolutionState(NamedTuple):
    """The decoder's state; every tensor has the batch first."""

    past: tuple[Tensor, ...]  # for each block its last inputs, (B, reach, U)
    steps: int  # the number of tokens read so far
    memory: Memory


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    kernel_size=natural,
    dilations=DILATIONS,
    dropout=fraction,
    max_length=natural,
)
class ConvolutionalDecoder(nn.Module):
    """Decode the target with causal convolutions, and attend to the source after each of them.

    Source: Gehring et al. 2017, sections 3.2 and 3.3. After block l with output h, a query
    d = W h + b + g, where g are the vectors of token and position, attends to the encoder's states
    z, whose keys W z + b are shared by all blocks, eq. 1; the context c = m √(1/m) Σ α z over m
    source tokens is added, √½ (h + c), section 3.4. Initial weights as in section 3.5. Departs from
    it in the values: z alone instead of z + e, since the encoder does not return the source
    embeddings e, and the residual connections carry them into z; in the dilations; and in omitting
    weight normalisation, and the scaling of the encoder's gradients, which has no effect under
    Adam.

    Args:
        vocabulary_size: V of the target.
        embedding_size: width E of the token vectors.
        hidden_size: width U of the states, and of the encoder's states.
        kernel_size: the number of positions in one convolution's window, which ends at its own
            position.
        dilations: the distance between neighbours in the window, one number for each block.
        dropout: on token vectors, on the input of each convolution and of the output layer.
        max_length: the longest target that has position vectors.
    """

    state_type = ConvolutionState

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
        self.hidden_size, self.dropout, self.max_length = hidden_size, dropout, max_length
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.positions = LearnedPositions(max_length, embedding_size)
        self.project = nn.Linear(embedding_size, hidden_size)
        self.blocks = convolution_blocks(hidden_size, kernel_size, dilations, dropout=dropout)
        self.keys = nn.Linear(hidden_size, embedding_size)
        depth = len(self.blocks)
        self.queries = nn.ModuleList(nn.Linear(hidden_size, embedding_size) for _ in range(depth))
        self.attentions = nn.ModuleList(
            Attention(DotScore(embedding_size, embedding_size)) for _ in range(depth)
        )
        self.combine = nn.Linear(hidden_size, embedding_size)
        self.readout = nn.Linear(embedding_size, vocabulary_size)
        for table in (self.embedding.weight, self.positions.table):
            nn.init.normal_(table, std=0.1)
        for layer in (self.keys, self.combine, *self.queries):
            keep_variance(layer)
        for layer in (self.project, self.readout):
            keep_variance(layer, dropout=dropout)

    def start(self, states: Tensor, summary: Tensor, *, mask: Tensor) -> ConvolutionState:
        """The state before the first step, from encoder states (B, S, U) and summary (B, U)."""
        past = tuple(states.new_zeros(len(states), b.reach, self.hidden_size) for b in self.blocks)
        return ConvolutionState(past, 0, Memory(states, self.keys(states), mask, summary))

    def step(self, state: ConvolutionState, last_tokens: Tensor):
        """Process last_tokens (B,) and return logits (B, V) and the next state."""
        logits, state = self._advance(state, last_tokens[:, None])
        return logits[:, 0], state

    def force(self, state: ConvolutionState, target_in: Tensor) -> Tensor:
        """Process target_in (B, T), all positions in parallel, and return logits (B, T, V)."""
        return self._advance(state, target_in)[0]

    def _advance(self, state: ConvolutionState, tokens: Tensor):
        """Process T tokens (B, T): logits (B, T, V), and the state after them."""
        steps = state.steps + tokens.shape[1]
        if steps > self.max_length:
            raise ValueError(
                f"the target must be at most {self.max_length} tokens long, got {steps}"
            )
        vectors = self.positions(self.embedding(tokens), start=state.steps)  # (B, T, E)
        vectors = F.dropout(vectors, self.dropout, self.training)
        hidden, past = self.project(vectors), []
        for depth, block in enumerate(self.blocks):
            hidden, seen = block.step(hidden, state.past[depth])
            query = self.queries[depth](hidden) + vectors
            context = self._look(self.attentions[depth], query, state.memory)
            hidden = (hidden + context) * math.sqrt(0.5)
            past.append(seen)
        combined = F.dropout(self.combine(hidden), self.dropout, self.training)  # (B, T, E)
        return self.readout(combined), ConvolutionState(tuple(past), steps, state.memory)

    @staticmethod
    def _look(attention: Attention, query: Tensor, memory: Memory) -> Tensor:
        """Attend from queries (B, T, E) to the source: contexts (B, T, U)."""
        mask = memory.mask[:, None]  # (B, 1, S)
        context, _ = attention(query, memory.keys, memory.states, mask=mask, projected=True)
        # The mean of m values of equal variance has 1/m times that variance.
        return context * mask.sum(dim=2, keepdim=True).to(context.dtype).sqrt()
