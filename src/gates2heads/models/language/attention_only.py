"""A language model of attention alone, whose logits are a sum with one term for each head."""

import math

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, natural
from gates2heads.layers.attention.grouped_query import GroupedQueryAttention
from gates2heads.layers.attention.heads import split_heads
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.positions import sinusoids
from gates2heads.layers.record import record
from gates2heads.models.language.base import TOKENS, NeuralLanguageModel
from gates2heads.models.language.decoder_only import CachedState


@accepts(
    vocabulary_size=natural, d_model=natural, nhead=natural, num_layers=natural, max_length=natural
)
class AttentionOnly(NeuralLanguageModel):
    """A causal language model of embeddings, layers of attention and an output matrix.

    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits": no
    feed-forward sublayers, no normalisation and no biases, so that the vector of each position is
    the sum of its embedding and of the outputs of all heads. Departs from it in learned positions,
    initially sinusoids, which are added to the embedding; there positions are added to the inputs
    of queries and keys only.

    Args:
        vocabulary_size: V.
        d_model: width D.
        nhead: heads H of each layer.
        num_layers: how many layers there are.
        max_length: the longest sequence that the model reads, in tokens.
    """

    state_type = CachedState

    def __init__(
        self,
        vocabulary_size: int,
        *,
        d_model: int = 64,
        nhead: int = 4,
        num_layers: int = 2,
        max_length: int = 64,
    ):
        super().__init__()
        self.vocabulary_size, self.d_model, self.max_length = vocabulary_size, d_model, max_length
        self.token_table = nn.Embedding(vocabulary_size, d_model)
        self.position_table = nn.Embedding(max_length, d_model)
        self.layers = nn.ModuleList(
            GroupedQueryAttention(d_model, nhead, bias=False) for _ in range(num_layers)
        )
        self.output = nn.Linear(d_model, vocabulary_size, bias=False)
        self._initialise()

    def _initialise(self) -> None:
        """Draw the matrices from N(0, 1/D); positions begin as sinusoids."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=1 / math.sqrt(self.d_model))
        with torch.no_grad():
            table = self.position_table.weight
            table.copy_(sinusoids(torch.arange(self.max_length), self.d_model))

    def _logits(self, tokens: Tensor) -> Tensor:
        vectors = self._embed(tokens, 0)
        for layer in self.layers:
            vectors = vectors + layer(vectors)
        return self.output(vectors)

    @accepts(tokens=TOKENS)
    def terms(self, tokens: Tensor) -> Tensor:
        """Split the logits after each of the tokens (B, T) into terms whose sum they are.

        Source: Elhage et al. 2021, section "The Path Expansion Trick": the direct path from the
        embedding to the output, and the output of each head times the output matrix.

        Returns:
            (1 + L · H, B, T, V): the direct path, then the heads in the order of `heads_of`.

        Raises:
            ValueError: there are more than `max_length` tokens.
        """
        self._check_length(tokens)
        with record(self) as trace:
            self._logits(tokens)
        vectors = self._embed(tokens, 0)
        parts = [vectors]  # (B, T, D) each
        for depth, layer in enumerate(self.layers):
            (weights,) = trace[f"layers.{depth}"]["weights"]  # (B, H, T, T)
            values = split_heads(layer.v_proj(vectors), layer.num_heads)  # (B, H, T, K)
            columns = layer.out_proj.weight.unflatten(1, (layer.num_heads, -1))  # (D, H, K)
            outputs = torch.einsum("bhts,bhsk,dhk->hbtd", weights, values, columns)
            parts.extend(outputs)
            vectors = vectors + outputs.sum(dim=0)
        return self.output(torch.stack(parts))

    @accepts(layer=natural(least=0), head=natural(least=0))
    def ov_matrix(self, layer: int, head: int) -> Tensor:
        """The matrix (D, D) by which a head maps the vector that it attends to: x ↦ x W_V W_O."""
        rows = self._rows(layer, head)
        attention = self.layers[layer]
        return attention.v_proj.weight[rows].T @ attention.out_proj.weight[:, rows].T

    @accepts(layer=natural(least=0), head=natural(least=0))
    def qk_matrix(self, layer: int, head: int) -> Tensor:
        """The matrix (D, D) whose product with two vectors is their score: x W_Q W_Kᵀ yᵀ / √K."""
        rows = self._rows(layer, head)
        attention = self.layers[layer]
        product = attention.q_proj.weight[rows].T @ attention.k_proj.weight[rows]
        return product / math.sqrt(attention.head_width)

    def _rows(self, layer: int, head: int) -> slice:
        """The rows of a head in the matrices of a layer."""
        natural(least=0, most=len(self.layers) - 1).check("layer", layer)
        attention = self.layers[layer]
        natural(least=0, most=attention.num_heads - 1).check("head", head)
        return slice(head * attention.head_width, (head + 1) * attention.head_width)

    def _embed(self, tokens: Tensor, start: int) -> Tensor:
        """Vectors (B, T, D) of tokens (B, T), the first of which is at position `start`."""
        positions = self.position_table.weight[start : start + tokens.shape[1]]
        return self.token_table(tokens) + positions

    def _begin(self, batch_size: int) -> CachedState:
        attention, table = self.layers[0], self.token_table.weight
        shape = (batch_size, attention.num_heads, 0, attention.head_width)
        empty = KeyValues(table.new_zeros(shape), table.new_zeros(shape))
        length = torch.zeros(batch_size, dtype=torch.long, device=table.device)
        return CachedState((empty,) * len(self.layers), length)

    def _advance(self, state: CachedState, last_tokens: Tensor):
        start = int(state.length[0])
        if start >= self.max_length:
            raise ValueError(
                f"last_tokens must stand within {self.max_length} tokens, got position {start}"
            )
        vectors, caches = self._embed(last_tokens[:, None], start), []
        for layer, before in zip(self.layers, state.past, strict=True):
            attended, cache = layer.extend(vectors, before, start=start)
            vectors = vectors + attended
            caches.append(cache)
        log_probs = self.output(vectors)[:, -1].log_softmax(dim=-1)
        return log_probs, CachedState(tuple(caches), state.length + 1)
