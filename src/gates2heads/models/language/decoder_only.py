"""A decoder-only Transformer: from the block of GPT-2 to that of Llama, one exchange at a time."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    choice,
    flag,
    fraction,
    maybe,
    natural,
    positive,
    tokens,
    whole,
)
from gates2heads.layers.attention.grouped_query import GroupedQueryAttention
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.blocks import FeedForward, SwiGLU
from gates2heads.layers.masks import prefix_mask
from gates2heads.layers.norms import NORMS
from gates2heads.layers.positions import BASE
from gates2heads.models.language.base import TOKENS, NeuralLanguageModel

FEED_FORWARD = ("gelu", "swiglu")
POSITIONS = ("learned", "rotary")
STD = 0.02  # of the initial weights, as in GPT-2 and Llama
GPT2 = {"norm": "layer", "positions": "learned", "feed_forward": "gelu", "bias": True}
LLAMA = {"norm": "rms", "positions": "rotary", "feed_forward": "swiglu", "bias": False}
# What adds to the residual path, which every layer does twice.
ADDING = ("out_proj.weight", "down_proj.weight", "linear2.weight")
LENGTHS = whole("B", empty=False)


class CachedState(NamedTuple):
    """The cache of B sequences, and how many tokens each has read; the batch is first."""

    past: tuple[KeyValues, ...]  # one per layer, (B, G, t, K) each
    length: Tensor  # (B,) long, the same for all


class Block(nn.Module):
    """A pre-norm block: x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, sizes: dict, norm: Callable, feed_forward: str, dropout: float, **attention):
        super().__init__()
        width, bias = sizes["d_model"], attention["bias"]
        self.attention_norm, self.feed_forward_norm = norm(width), norm(width)
        self.attention = GroupedQueryAttention(width, **attention)
        hidden = sizes["dim_feedforward"]
        self.feed_forward = (
            SwiGLU(width, hidden, bias=bias)
            if feed_forward == "swiglu"
            else FeedForward(width, hidden, feed_forward, bias=bias)
        )
        self.dropout = dropout

    def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Tensor:
        """Transform vectors (B, T, D), all positions in parallel."""
        attended = self.attention(self.attention_norm(vectors), mask=mask)
        return self._add_feed_forward(vectors + self._dropped(attended))

    def step(self, vectors: Tensor, past: KeyValues | None, start: int):
        """Transform T new positions (B, T, D); give them and the longer cache."""
        attended, past = self.attention.extend(self.attention_norm(vectors), past, start=start)
        return self._add_feed_forward(vectors + self._dropped(attended)), past

    def _add_feed_forward(self, vectors: Tensor) -> Tensor:
        return vectors + self._dropped(self.feed_forward(self.feed_forward_norm(vectors)))

    def _dropped(self, vectors: Tensor) -> Tensor:
        return F.dropout(vectors, self.dropout, self.training)


@accepts(
    vocabulary_size=natural,
    d_model=natural,
    nhead=natural,
    num_layers=natural,
    dim_feedforward=natural,
    num_key_value_heads=maybe(natural),
    norm=choice(NORMS),
    eps=maybe(positive),
    positions=choice(POSITIONS),
    rotary_base=positive,
    feed_forward=choice(FEED_FORWARD),
    bias=flag,
    tie=flag,
    window=maybe(natural),
    dropout=fraction,
    max_length=natural,
)
class DecoderOnly(NeuralLanguageModel):
    """A causal language model: one stack of pre-norm blocks, with the parts of GPT-2 or of Llama.

    Sources: Radford et al. 2019 (`GPT2`: layer normalisation, learned positions, GELU, biases) and
    Touvron et al. 2023 (`LLAMA`: RMSNorm, rotary encoding, SwiGLU, no biases). Departs from GPT-2
    in the exact GELU, and from both in small sizes. `models.language.published` gives the
    parameters the names of the two models in the package transformers.

    Args:
        vocabulary_size: V.
        d_model: width D.
        nhead: number of query heads H.
        num_layers: how many blocks there are.
        dim_feedforward: width F of the hidden layer of a feed-forward sublayer.
        num_key_value_heads: number G of heads of keys and values; H if not given.
        norm: "layer" or "rms".
        eps: of all norms, against division by zero; that of their class if not given.
        positions: "learned" or "rotary".
        rotary_base: of the angles of the rotary encoding; see `rotate`.
        feed_forward: "gelu" or "swiglu".
        bias: whether all linear layers but the output projection have biases.
        tie: one matrix for embedding and output projection.
        window: of sliding-window attention; every position sees all before it if not given.
        dropout: on embeddings and on the output of each sublayer.
        max_length: the longest sequence that the model reads, in tokens.
    """

    state_type = CachedState

    def __init__(
        self,
        vocabulary_size: int,
        *,
        d_model: int = 128,
        nhead: int = 4,
        num_layers: int = 4,
        dim_feedforward: int = 512,
        num_key_value_heads: int | None = None,
        norm: str = "layer",
        eps: float | None = None,
        positions: str = "learned",
        rotary_base: float = BASE,
        feed_forward: str = "gelu",
        bias: bool = True,
        tie: bool = True,
        window: int | None = None,
        dropout: float = 0.0,
        max_length: int = 256,
    ):
        super().__init__()
        self.vocabulary_size, self.d_model, self.max_length = vocabulary_size, d_model, max_length
        self.dropout = dropout
        sizes = {"d_model": d_model, "dim_feedforward": dim_feedforward}
        attention = {
            "num_heads": nhead,
            "num_key_value_heads": num_key_value_heads,
            "rotary": positions == "rotary",
            "rotary_base": rotary_base,
            "bias": bias,
            "window": window,
        }
        norm_of = NORMS[norm] if eps is None else partial(NORMS[norm], eps=eps)
        self.token_table = nn.Embedding(vocabulary_size, d_model)
        self.position_table = nn.Embedding(max_length, d_model) if positions == "learned" else None
        self.layers = nn.ModuleList(
            Block(sizes, norm_of, feed_forward, dropout, **attention) for _ in range(num_layers)
        )
        self.norm = norm_of(d_model)
        self.output = None if tie else nn.Linear(d_model, vocabulary_size, bias=False)
        self._initialise()

    def _initialise(self) -> None:
        """Draw all matrices from N(0, 0.02²); those that add to the residual path are smaller."""
        adding = STD / math.sqrt(2 * len(self.layers))
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                adds = name.endswith(ADDING)
                nn.init.normal_(parameter, std=adding if adds else STD)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    @accepts(tokens=TOKENS, prefix=LENGTHS)
    def logits(self, tokens: Tensor, *, prefix: Tensor | None = None) -> Tensor:
        """The logits (B, T, V) of the token after each of the tokens (B, T), `<bos>` first.

        Args:
            tokens: (B, T) long.
            prefix: (B,) long, how many tokens at the beginning of each sequence attend to each
                other in both directions; none if not given. See `masks.prefix_mask`.

        Raises:
            ValueError: the tokens are more than `max_length`, or a prefix is longer than they are.
        """
        self._check_length(tokens)
        mask = None if prefix is None else prefix_mask(prefix, tokens.shape[1])
        vectors = self._embed(tokens, 0)
        for layer in self.layers:
            vectors = layer(vectors, mask)
        return self._project(vectors)

    def _logits(self, tokens: Tensor) -> Tensor:
        return self.logits(tokens)

    def _embed(self, tokens: Tensor, start: int) -> Tensor:
        """Vectors (B, T, D) of tokens (B, T), the first of which is at position `start`."""
        vectors = self.token_table(tokens)
        if self.position_table is not None:
            end = start + tokens.shape[1]
            vectors = vectors + self.position_table.weight[start:end]
        return F.dropout(vectors, self.dropout, self.training)

    def _project(self, vectors: Tensor) -> Tensor:
        """From vectors (B, T, D) to logits (B, T, V)."""
        table = self.token_table if self.output is None else self.output
        return F.linear(self.norm(vectors), table.weight)

    def _begin(self, batch_size: int) -> CachedState:
        attention, table = self.layers[0].attention, self.token_table.weight
        shape = (batch_size, attention.num_key_value_heads, 0, attention.head_width)
        empty = KeyValues(table.new_zeros(shape), table.new_zeros(shape))
        length = torch.zeros(batch_size, dtype=torch.long, device=table.device)
        return CachedState((empty,) * len(self.layers), length)

    def _advance(self, state: CachedState, last_tokens: Tensor):
        logits, state = self.extend(state, last_tokens[:, None])
        return logits[:, -1].log_softmax(dim=-1), state

    @accepts(tokens=tokens("B T", below="vocabulary_size"))
    def extend(self, state: CachedState, tokens: Tensor):
        """Read T more tokens (B, T) in parallel, such as a prompt; `step` reads one.

        Args:
            state: from `start`, `step` or `extend`.
            tokens: (B, T) long.

        Returns:
            logits (B, T, V), and the next state.

        Raises:
            ValueError: the sequence would be longer than `max_length`.
        """
        start = int(state.length[0])
        if start + tokens.shape[1] > self.max_length:
            raise ValueError(
                f"tokens must end within {self.max_length} tokens, got {tokens.shape[1]} after "
                f"{start}"
            )
        vectors, caches = self._embed(tokens, start), []
        for layer, before in zip(self.layers, state.past, strict=True):
            vectors, cache = layer.step(vectors, before, start)
            caches.append(cache)
        return self._project(vectors), CachedState(tuple(caches), state.length + tokens.shape[1])
