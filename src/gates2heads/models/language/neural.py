"""Neural language models: feed-forward, recurrent, and a Transformer."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, flag, fraction, natural
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.blocks import ACTIVATIONS
from gates2heads.layers.norms import NORMS
from gates2heads.layers.positions import LearnedPositions, SinusoidalPositions
from gates2heads.layers.recurrent.by_name import CELLS, Carried, blank, recurrent_layer, run
from gates2heads.layers.transformer_layers import EncoderLayer
from gates2heads.models.language.base import NeuralLanguageModel


class WindowState(NamedTuple):
    """State of a sequence: the tokens that the next prediction can still depend on."""

    window: Tensor  # (B, window − 1) long: the last tokens, `<bos>` before the first


@accepts(
    vocabulary_size=natural,
    window=natural,
    embedding_size=natural,
    hidden_size=natural,
    dropout=fraction,
)
class FeedForwardLanguageModel(NeuralLanguageModel):
    """Predict from the embeddings of the last few tokens; earlier tokens are ignored.

    Source: Bengio et al. 2003, section 2: softmax(b + U tanh(d + H x)), where x concatenates the
    embeddings of the window. Departs from it by leaving out the direct connections W from x to the
    logits, which they call optional. Before the first token, the window is filled with `<bos>`.

    Args:
        vocabulary_size: V.
        window: n − 1, how many tokens a prediction depends on; an n-gram model of order n has as
            many.
        embedding_size: width E of the token vectors.
        hidden_size: width of the hidden layer.
        dropout: on token vectors, and on the input of the output layer.
    """

    state_type = WindowState

    def __init__(
        self,
        vocabulary_size: int,
        *,
        window: int = 4,
        embedding_size: int = 64,
        hidden_size: int = 128,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.vocabulary_size, self.window, self.dropout = vocabulary_size, window, dropout
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(window * embedding_size, hidden_size)
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def _run(self, tokens: Tensor) -> Tensor:
        """From tokens (B, window − 1 + T) to the logits (B, T, V) after each of the last T."""
        vectors = F.dropout(self.embedding(tokens), self.dropout, self.training)
        length = tokens.shape[1] - self.window + 1
        shifted = [vectors[:, back : back + length] for back in range(self.window)]
        hidden = torch.tanh(self.hidden(torch.cat(shifted, dim=2)))  # (B, T, window · E) -> U
        return self.readout(F.dropout(hidden, self.dropout, self.training))

    def _before(self, batch_size: int) -> Tensor:
        """The tokens that fill the window before the first token."""
        shape, device = (batch_size, self.window - 1), self.embedding.weight.device
        return torch.full(shape, Vocabulary.bos, device=device)

    def _logits(self, tokens: Tensor) -> Tensor:
        return self._run(torch.cat([self._before(len(tokens)).to(tokens), tokens], dim=1))

    def _begin(self, batch_size: int) -> WindowState:
        return WindowState(self._before(batch_size))

    def _advance(self, state: WindowState, last_tokens: Tensor):
        longer = torch.cat([state.window, last_tokens[:, None].to(state.window)], dim=1)
        return self._run(longer)[:, 0].log_softmax(dim=-1), WindowState(longer[:, 1:])


class RecurrentState(NamedTuple):
    """The state of a sequence."""

    carried: Carried  # hidden, and the cell of an LSTM; each (B, num_layers, U)


@accepts(
    vocabulary_size=natural,
    cell=choice(CELLS),
    embedding_size=natural,
    hidden_size=natural,
    num_layers=natural,
    dropout=fraction,
)
class RecurrentLanguageModel(NeuralLanguageModel):
    """Summarise all previous tokens in a state of fixed width, and predict from it.

    Source: Mikolov et al. 2010. Departs from it in the separate embedding table, and in the choice
    of the cell.

    Args:
        vocabulary_size: V.
        cell: "rnn", "gru" or "lstm".
        embedding_size: width of the token vectors.
        hidden_size: width U of the state.
        num_layers: layer l receives the output of layer l − 1.
        dropout: on token vectors, between layers, and on the input of the output layer.
    """

    state_type = RecurrentState

    def __init__(
        self,
        vocabulary_size: int,
        *,
        cell: str = "lstm",
        embedding_size: int = 64,
        hidden_size: int = 128,
        num_layers: int = 1,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.vocabulary_size, self.dropout = vocabulary_size, dropout
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.recurrent = recurrent_layer(
            cell, embedding_size, hidden_size, num_layers, dropout=dropout
        )
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def _run(self, tokens: Tensor, carried: Carried):
        """Logits (B, T, V) after each of the tokens (B, T), and the state after the last token."""
        vectors = F.dropout(self.embedding(tokens), self.dropout, self.training)
        states, carried = run(self.recurrent, vectors, carried)
        return self.readout(F.dropout(states, self.dropout, self.training)), carried

    def _begin(self, batch_size: int) -> RecurrentState:
        return RecurrentState(blank(self.recurrent, batch_size))

    def _advance(self, state: RecurrentState, last_tokens: Tensor):
        logits, carried = self._run(last_tokens[:, None], state.carried)
        return logits[:, 0].log_softmax(dim=-1), RecurrentState(carried)

    def _logits(self, tokens: Tensor) -> Tensor:
        return self._run(tokens, blank(self.recurrent, len(tokens)))[0]


POSITIONS = ("sinusoidal", "learned")


class PastState(NamedTuple):
    """State of a sequence: the keys and values of all tokens so far."""

    past: tuple[KeyValues, ...]  # one a layer, (B, H, t, K)


@accepts(
    vocabulary_size=natural,
    d_model=natural,
    nhead=natural,
    num_layers=natural,
    dim_feedforward=natural,
    dropout=fraction,
    activation=choice(ACTIVATIONS),
    norm_first=flag,
    norm=choice(NORMS),
    tie=flag,
    positions=choice(POSITIONS),
    max_length=natural,
)
class TransformerLanguageModel(NeuralLanguageModel):
    """Attend to all previous tokens with causal self-attention, and predict from them.

    Source: the decoder of Vaswani et al. 2017 without a source, as in Liu et al. 2018. Departs
    from it in the default pre-norm, with one more norm at the end.

    Args:
        vocabulary_size: V.
        d_model: width D.
        nhead: number of heads H.
        num_layers: the number of layers.
        dim_feedforward: width F of the feed-forward networks.
        dropout: on embeddings and on the output of each sublayer.
        activation: "relu", "gelu" or "silu".
        norm_first: True is pre-norm, False post-norm.
        norm: "layer" or "rms".
        tie: one matrix for embedding and output projection, Press & Wolf 2017.
        positions: "sinusoidal" or "learned".
        max_length: the longest sequence that the model accepts, in tokens.
    """

    state_type = PastState

    def __init__(
        self,
        vocabulary_size: int,
        *,
        d_model: int = 128,
        nhead: int = 4,
        num_layers: int = 2,
        dim_feedforward: int = 512,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = True,
        norm: str = "layer",
        tie: bool = True,
        positions: str = "sinusoidal",
        max_length: int = 512,
    ):
        super().__init__()
        self.vocabulary_size, self.d_model = vocabulary_size, d_model
        self.dropout, self.max_length = dropout, max_length
        sizes = (d_model, nhead, dim_feedforward, dropout, activation)
        options = {"norm_first": norm_first, "norm": norm}
        self.layers = nn.ModuleList(EncoderLayer(*sizes, **options) for _ in range(num_layers))
        self.norm = NORMS[norm](d_model) if norm_first else nn.Identity()
        learned = positions == "learned"
        self.positions = (
            LearnedPositions(max_length, d_model) if learned else SinusoidalPositions(d_model)
        )
        for parameter in self.layers.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        shape = (vocabulary_size, d_model)
        self.table = nn.Parameter(torch.randn(shape) / math.sqrt(d_model))
        untied = None if tie else nn.Parameter(torch.randn(shape) / math.sqrt(d_model))
        self.readout_table = untied
        self.readout_bias = nn.Parameter(torch.zeros(vocabulary_size))

    def _embed(self, tokens: Tensor, *, start: int = 0) -> Tensor:
        """Vectors (B, T, D) of tokens (B, T), the first at position `start`."""
        # The scale lets a tied matrix serve as embedding and output projection, Vaswani et al.
        # 2017, section 3.4.
        vectors = F.embedding(tokens, self.table) * math.sqrt(self.d_model)
        return self._add_positions(vectors, start=start)

    def _add_positions(self, vectors: Tensor, *, start: int = 0) -> Tensor:
        """Add positional encodings to vectors (B, T, D), the first at position `start`."""
        return F.dropout(self.positions(vectors, start=start), self.dropout, self.training)

    def _readout(self, vectors: Tensor) -> Tensor:
        """From vectors (B, T, D) to logits (B, T, V)."""
        table = self.table if self.readout_table is None else self.readout_table
        return F.linear(self.norm(vectors), table, self.readout_bias)

    def _logits(self, tokens: Tensor) -> Tensor:
        vectors = self._embed(tokens)
        for layer in self.layers:
            vectors = layer(vectors, causal=True)
        return self._readout(vectors)

    def _begin(self, batch_size: int) -> PastState:
        attention = self.layers[0].self_attn
        shape = (batch_size, attention.num_heads, 0, self.d_model // attention.num_heads)
        nothing = KeyValues(self.table.new_zeros(shape), self.table.new_zeros(shape))
        return PastState((nothing,) * len(self.layers))

    def _advance(self, state: PastState, last_tokens: Tensor):
        length = state.past[0].keys.shape[2]
        if length >= self.max_length:
            raise ValueError(
                f"last_tokens must stand within {self.max_length} tokens, got position {length}"
            )
        vectors, extended = self._embed(last_tokens[:, None], start=length), []
        for layer, before in zip(self.layers, state.past, strict=True):
            vectors, past = layer.step(vectors, before)
            extended.append(past)
        return self._readout(vectors)[:, 0].log_softmax(dim=-1), PastState(tuple(extended))
