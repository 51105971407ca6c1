"""Recurrent decoders: plain, or with attention before or after the recurrent step."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, flag, fraction, instance, natural
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent import ContextGRUCell
from gates2heads.layers.recurrent.by_name import CELLS, carried_parts, recurrent_layer, run
from gates2heads.models.translation.checks import check_attention
from gates2heads.models.translation.memory import Memory, look
from gates2heads.models.translation.writer import DecoderState, Writer, begin


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    cell=choice(CELLS),
    num_layers=natural,
    dropout=fraction,
    fed_size=natural(least=0),
)
class PlainDecoder(Writer):
    """Decode the target from the encoder's summary alone, which is only the first state.

    Source: Sutskever et al. 2014, section 2. Departs from it in a layer between the summary and the
    first state, so that encoder and decoder may differ in cell and depth.

    Args:
        vocabulary_size: V of the target.
        embedding_size: width of the token vectors.
        hidden_size: width U of the state, and of the encoder's summary.
        cell: "rnn", "gru" or "lstm".
        num_layers: layer l receives the output of layer l − 1.
        dropout: on token vectors, between layers and on the input of the output layer.
        fed_size: width of a further input of each step, if a subclass has one.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        *,
        cell: str = "gru",
        num_layers: int = 1,
        dropout: float = 0.0,
        fed_size: int = 0,
    ):
        super().__init__()
        self.hidden_size, self.dropout, self.fed_size = hidden_size, dropout, fed_size
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.recurrent = recurrent_layer(
            cell, embedding_size + fed_size, hidden_size, num_layers, dropout=dropout
        )
        carried_size = carried_parts(self.recurrent) * num_layers * hidden_size
        self.bridge = nn.Linear(hidden_size, carried_size)
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def start(self, states: Tensor, summary: Tensor, *, mask: Tensor) -> DecoderState:
        """The state before the first step, from encoder states (B, S, U) and summary (B, U)."""
        first = torch.tanh(self.bridge(summary))
        # (B, parts · num_layers · U) -> parts times (B, num_layers, U)
        carried = first.unflatten(1, (-1, self.recurrent.num_layers, self.hidden_size)).unbind(1)
        attentional_state = summary.new_zeros(len(summary), self.fed_size)
        return begin(carried, attentional_state, Memory(states, states, mask, summary))

    def _advance(self, state: DecoderState, vectors: Tensor):
        states, carried = run(self.recurrent, vectors[:, None], state.carried)
        return states[:, 0], state._replace(carried=carried, steps=state.steps + 1)

    def _write(self, read: Tensor) -> Tensor:
        return self.readout(F.dropout(read, self.dropout, self.training))


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    cell=choice(CELLS),
    num_layers=natural,
    dropout=fraction,
    maxout_size=natural,
)
class ChoDecoder(PlainDecoder):
    """Decode the target from the encoder's summary, which is an input of every step.

    Source: Cho et al. 2014, section 2.2 and appendix A.1.2: each step and the output layer, a
    maxout layer, receive the summary c beside the state and the last token. Departs from it in the
    gates, which are those of `cell` and reset after the product, as in libraries.

    Args:
        vocabulary_size, embedding_size, hidden_size, cell, num_layers, dropout: as for
            `PlainDecoder`.
        maxout_size: width of the output layer's hidden layer; U/2, rounded up, if not given.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        *,
        cell: str = "gru",
        num_layers: int = 1,
        dropout: float = 0.0,
        maxout_size: int | None = None,
    ):
        super().__init__(
            vocabulary_size,
            embedding_size,
            hidden_size,
            cell=cell,
            num_layers=num_layers,
            dropout=dropout,
            fed_size=hidden_size,
        )
        read_size = 2 * hidden_size + embedding_size
        self.combine, self.readout = _maxout(read_size, hidden_size, vocabulary_size, maxout_size)

    def _advance(self, state: DecoderState, vectors: Tensor):
        summary = state.memory.summary
        hidden, state = super()._advance(state, torch.cat([vectors, summary], dim=1))
        return torch.cat([hidden, vectors, summary], dim=1), state  # (B, 2U + E)

    def _write(self, read: Tensor) -> Tensor:
        return super()._write(_larger_of_pairs(self.combine(read)))


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    attention=instance(Attention),
    cell=choice(CELLS),
    num_layers=natural,
    dropout=fraction,
    input_feeding=flag,
)
class LuongDecoder(PlainDecoder):
    """Compute the recurrent step first, then attend to the source, and predict from both.

    Source: Luong et al. 2015: h̃ = tanh(W_c [c; h]), eq. 5, logits W_s h̃, eq. 6, and input
    feeding, section 3.3: h̃ is an input of the next step beside the token. Departs from it in the
    first state, as `PlainDecoder` does.

    Args:
        vocabulary_size, embedding_size, hidden_size, num_layers, dropout: as for `PlainDecoder`.
        attention: attention from (B, 1, U) to (B, S, U): soft, hard or local.
        cell: "rnn", "gru" or "lstm".
        input_feeding: False leaves h̃ out of the next step.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: Attention,
        *,
        cell: str = "lstm",
        num_layers: int = 1,
        dropout: float = 0.0,
        input_feeding: bool = True,
    ):
        check_attention(attention, hidden_size)
        super().__init__(
            vocabulary_size,
            embedding_size,
            hidden_size,
            cell=cell,
            num_layers=num_layers,
            dropout=dropout,
            fed_size=hidden_size if input_feeding else 0,
        )
        self.attention = attention
        self.combine = nn.Linear(2 * hidden_size, hidden_size, bias=False)

    def start(self, states: Tensor, summary: Tensor, *, mask: Tensor) -> DecoderState:
        """The state before the first step, from encoder states (B, S, U) and summary (B, U)."""
        state = super().start(states, summary, mask=mask)
        memory = Memory(states, self.attention.project_keys(states), mask, summary)
        return state._replace(memory=memory)

    def _advance(self, state: DecoderState, vectors: Tensor):
        hidden, after = super()._advance(
            state, torch.cat([vectors, state.attentional_state], dim=1)
        )
        context = look(self.attention, hidden, state.memory, state.steps)
        attentional = torch.tanh(self.combine(torch.cat([context, hidden], dim=1)))  # (B, U)
        return attentional, after._replace(attentional_state=attentional[:, : self.fed_size])


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    attention=instance(Attention),
    maxout_size=natural,
    reset_after=flag,
    dropout=fraction,
)
class BahdanauDecoder(Writer):
    """Attend to the source first, with the previous state; the context is an input of the step.

    Source: Bahdanau et al. 2015, appendix A: the context is an input of the two gates and the
    candidate, A.1.1; the output layer is a maxout layer, A.2.2. Departs from it in the first state,
    which comes from both directions of the encoder and not from the backward one alone; and in that
    the output layer receives the state after the step, as in the paper's eq. 4, whereas its
    appendix uses the previous state.

    Args:
        vocabulary_size: V of the target.
        embedding_size: width of the token vectors.
        hidden_size: width U of the state, and of the encoder's states.
        attention: attention from (B, 1, U) to (B, S, U): soft, hard or local.
        maxout_size: width l of the output layer's hidden layer; U/2, rounded up, if not given.
        reset_after: False resets before the product, as in the paper; True as in libraries.
        dropout: on token vectors and on the input of the output layer.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: Attention,
        *,
        maxout_size: int | None = None,
        reset_after: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        check_attention(attention, hidden_size)
        self.hidden_size, self.dropout = hidden_size, dropout
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.attention = attention
        self.bridge = nn.Linear(hidden_size, hidden_size)
        self.cell = ContextGRUCell(embedding_size, hidden_size, hidden_size, reset_after)
        read_size = 2 * hidden_size + embedding_size
        self.combine, self.readout = _maxout(read_size, hidden_size, vocabulary_size, maxout_size)

    def start(self, states: Tensor, summary: Tensor, *, mask: Tensor) -> DecoderState:
        """The state before the first step, from encoder states (B, S, U) and summary (B, U)."""
        hidden = torch.tanh(self.bridge(summary))
        memory = Memory(states, self.attention.project_keys(states), mask, summary)
        return begin((hidden[:, None],), summary[:, :0], memory)

    def _advance(self, state: DecoderState, vectors: Tensor):
        hidden = state.carried[0][:, 0]  # (B, 1, U) -> (B, U)
        context = look(self.attention, hidden, state.memory, state.steps)
        hidden = self.cell(vectors, context, hidden)
        read = torch.cat([hidden, vectors, context], dim=1)  # (B, 2U + E)
        return read, state._replace(carried=(hidden[:, None],), steps=state.steps + 1)

    def _write(self, read: Tensor) -> Tensor:
        larger = _larger_of_pairs(self.combine(read))  # (…, l)
        return self.readout(F.dropout(larger, self.dropout, self.training))


def _larger_of_pairs(values: Tensor) -> Tensor:
    """Maxout over pairs of neighbours: (…, 2l) -> (…, l)."""
    return values.unflatten(-1, (-1, 2)).amax(dim=-1)


def _maxout(read_size, hidden_size, vocabulary_size, maxout_size) -> tuple[nn.Linear, nn.Linear]:
    """The two matrices of the output layer; U_o s + V_o y + C_o c is one over [s; y; c]."""
    maxout_size = (hidden_size + 1) // 2 if maxout_size is None else maxout_size
    return nn.Linear(read_size, 2 * maxout_size), nn.Linear(maxout_size, vocabulary_size)
