"""Encoder–decoder models: what all share, and one of gated recurrent units."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, count
from gates2heads.checks.values import check_count
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent import GRU, GRUCell
from gates2heads.models.translation.checks import (
    check_attention,
    check_batch,
    check_halves,
    check_parts,
    check_sizes,
    check_source,
    check_step,
    check_target,
    check_translator,
)
from gates2heads.models.translation.forcing import unroll
from gates2heads.models.translation.memory import Memory, look


class DecoderState(NamedTuple):
    """Where the decoder stands; every tensor has the batch first."""

    hidden: Tensor  # (B, U)
    memory: Memory


@accepts(vocabulary_size=count, embedding_size=count, hidden_size=count)
class Encoder(nn.Module):
    """Read the source in both directions.

    Source: Bahdanau et al. 2015, section 3.2. Departs from it in the width: each direction has
    U/2 units, so that the joined state is as wide as the decoder's and a dot product can compare
    the two.

    Args:
        vocabulary_size: V of the source.
        embedding_size: width of the token vectors.
        hidden_size: width U of the joined state, an even number.
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int):
        super().__init__()
        check_sizes(vocabulary_size, embedding_size, hidden_size)
        check_halves(hidden_size)
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.recurrent = GRU(embedding_size, hidden_size // 2, bidirectional=True)

    def forward(self, source: Tensor, *, mask: Tensor):
        """Read source (B, S) under mask (B, S).

        Returns:
            states (B, S, U), and the summary (B, U): the last state of each direction.
        """
        states, final = self.recurrent(self.embedding(source), mask=mask)
        return states, torch.cat([final[0], final[1]], dim=-1)


@accepts(vocabulary_size=count, embedding_size=count, hidden_size=count)
class Decoder(nn.Module):
    """Write the target token by token, looking at the source through a context vector.

    With `attention`, the context is made anew at every step from all encoder states; without, it
    is the encoder's summary, the same at every step. Nothing else differs.

    Source: Bahdanau et al. 2015, appendix A.2. The three gates read the context, because it is
    joined to the token vector: W [y; c] = W_y y + W_c c. Departs from it in the readout, one
    linear layer over [s; c; y] instead of a maxout layer.

    Args:
        vocabulary_size: V of the target.
        embedding_size: width of the token vectors.
        hidden_size: width U of the state, and of the encoder's states.
        attention: attends from (B, 1, U) to (B, S, U), or None.
    """

    state_type = DecoderState

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: Attention | None = None,
    ):
        super().__init__()
        check_sizes(vocabulary_size, embedding_size, hidden_size)
        if attention is not None:
            check_attention(attention, hidden_size)
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.attention = attention
        self.bridge = nn.Linear(hidden_size, hidden_size)
        self.cell = GRUCell(embedding_size + hidden_size, hidden_size)
        self.readout = nn.Linear(2 * hidden_size + embedding_size, vocabulary_size)

    def start(self, states: Tensor, summary: Tensor, *, mask: Tensor) -> DecoderState:
        """The state before the first step, from encoder states (B, S, U) and summary (B, U)."""
        keys = states if self.attention is None else self.attention.project_keys(states)
        hidden = torch.tanh(self.bridge(summary))
        return DecoderState(hidden, Memory(states, keys, mask, summary))

    def step(self, state: DecoderState, last_tokens: Tensor):
        """Read last_tokens (B,), return logits (B, V) and the next state."""
        hidden, memory = state
        context = memory.summary
        if self.attention is not None:
            context = look(self.attention, hidden, memory)  # the state before the step asks
        token = self.embedding(last_tokens)
        hidden = self.cell(torch.cat([token, context], dim=-1), hidden)
        logits = self.readout(torch.cat([hidden, context, token], dim=-1))
        return logits, DecoderState(hidden, memory)


@accepts(max_length=count)
class SequenceToSequence(nn.Module):
    """An encoder and a decoder that are trained together.

    Source: Sutskever et al. 2014; Cho et al. 2014; Bahdanau et al. 2015.

    Args:
        encoder: `encoder(source, mask=)` gives states (B, S, U) and a summary (B, U).
        decoder: has `start`, `step` and `state_type`; U units like the encoder. If it has
            `force(state, target_in)`, logits (B, T, V), teacher forcing goes through that.
        max_length: the longest source that the model accepts, in tokens.

    Raises:
        TypeError, ValueError: one of them is no encoder or decoder, or their widths differ.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, max_length: int = 512):
        super().__init__()
        check_count("max_length", max_length)
        check_parts(encoder, decoder)
        self.max_length, self.encoder, self.decoder = max_length, encoder, decoder

    def start(self, source: Tensor, *, mask: Tensor | None = None) -> DecoderState:
        """Read source (B, S) under mask (B, S) and return the state before the first step.

        Raises:
            TypeError, ValueError: the source is empty, too long or no integer tensor, or the mask
                is not bool or does not fit.
        """
        check_source(self, source, mask)
        if mask is None:
            mask = torch.ones_like(source, dtype=torch.bool)
        mask = mask.expand(source.shape)
        states, summary = self.encoder(source, mask=mask)
        return self.decoder.start(states, summary, mask=mask)

    def step(self, state: DecoderState, last_tokens: Tensor):
        """Read last_tokens (B,); give log_probs (B, V) and the next state: `LanguageModel.step`."""
        check_step(self, state, last_tokens)
        logits, state = self.decoder.step(state, last_tokens)
        return logits.log_softmax(dim=-1), state

    def forward(
        self,
        batch: Batch,
        *,
        forced: float = 1.0,
        own: str = "likeliest",
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Write along the target; by teacher forcing, each step reads the true token before it.

        Args:
            batch: B pairs; see `gates2heads.data.batches.pairs.Batch`.
            forced, own, generator: how often a step reads the true token, and what else it reads;
                see `forcing.unroll`.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.

        Raises:
            TypeError, ValueError: it is no batch, or `start` refuses its source, or its target is
                empty or no integer tensor or of another batch size, or `unroll` refuses the rest.
        """
        check_batch(batch)
        state = self.start(batch.source, mask=batch.source_mask)
        check_target(self, batch)
        options = {"forced": forced, "own": own, "generator": generator}
        options["force"] = getattr(self.decoder, "force", None)
        return unroll(self.decoder.step, state, batch.target_in, **options)


@accepts(source_size=count, target_size=count, max_length=count)
class EncoderDecoder(SequenceToSequence):
    """A bidirectional encoder of gated recurrent units, and a decoder of the same.

    Source: Cho et al. 2014 without attention, Bahdanau et al. 2015 with it.

    Args:
        source_size, target_size: the two vocabulary sizes.
        embedding_size: width of the token vectors.
        hidden_size: width U of the encoder's joined state and of the decoder's state.
        score: name of a score function (see `SCORES`), or None for no attention.
        max_length: the longest source that the model accepts, in tokens.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        embedding_size: int = 64,
        hidden_size: int = 128,
        score: str | None = "additive",
        max_length: int = 512,
    ):
        check_translator(source_size, target_size, embedding_size, hidden_size, score)
        check_count("max_length", max_length)
        attention = None if score is None else Attention(SCORES[score](hidden_size, hidden_size))
        encoder = Encoder(source_size, embedding_size, hidden_size)
        decoder = Decoder(target_size, embedding_size, hidden_size, attention)
        super().__init__(encoder, decoder, max_length=max_length)
