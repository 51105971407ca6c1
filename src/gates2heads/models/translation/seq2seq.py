"""Encoder–decoder models: their common class, and one with gated recurrent units."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    boolean_mask,
    choice,
    fraction,
    generator,
    instance,
    maybe,
    module,
    natural,
    tokens,
)
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.attention.single_head import Attention
from gates2heads.layers.recurrent import GRUCell
from gates2heads.models.translation.checks import (
    BATCH,
    check_attention,
    check_parts,
    check_target,
)
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.forcing import OWN, unroll
from gates2heads.models.translation.memory import Memory, look


class DecoderState(NamedTuple):
    """The decoder's state; every tensor has the batch first."""

    hidden: Tensor  # (B, U)
    memory: Memory


@accepts(
    vocabulary_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    attention=instance(Attention),
)
class Decoder(nn.Module):
    """Generate the target token by token, with a context vector of the source.

    With `attention`, the context is computed at every step from all encoder states; without, it is
    the encoder's summary, the same at every step. Nothing else differs.

    Source: Bahdanau et al. 2015, appendix A.2. The context is an input of the three gates, because
    it is concatenated with the token vector: W [y; c] = W_y y + W_c c. Departs from it in the
    output layer, one linear layer over [s; c; y] instead of a maxout layer.

    Args:
        vocabulary_size: V of the target.
        embedding_size: width of the token vectors.
        hidden_size: width U of the state, and of the encoder's states.
        attention: attention from (B, 1, U) to (B, S, U), or None.
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
            context = look(self.attention, hidden, memory)  # query: the state before the step
        token = self.embedding(last_tokens)
        hidden = self.cell(torch.cat([token, context], dim=-1), hidden)
        logits = self.readout(torch.cat([hidden, context, token], dim=-1))
        return logits, DecoderState(hidden, memory)


@accepts(encoder=module, decoder=module, max_length=natural)
class SequenceToSequence(nn.Module):
    """An encoder and a decoder that are trained jointly.

    Source: Sutskever et al. 2014; Cho et al. 2014; Bahdanau et al. 2015.

    Args:
        encoder: `encoder(source, mask=)` gives states (B, S, U) and a summary (B, U).
        decoder: has `start`, `step` and `state_type`; U units like the encoder. If it has
            `force(state, target_in)`, logits (B, T, V), teacher forcing goes through that.
        max_length: the longest source that the model accepts, in tokens.

    Raises:
        TypeError, ValueError: one of them is not an encoder or decoder, or their widths differ.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, max_length: int = 512):
        super().__init__()
        check_parts(encoder, decoder)
        self.max_length, self.encoder, self.decoder = max_length, encoder, decoder

    @accepts(
        source=tokens("B S", below="encoder.embedding.num_embeddings"), mask=boolean_mask("B S")
    )
    def start(self, source: Tensor, *, mask: Tensor | None = None) -> DecoderState:
        """Encode source (B, S) under mask (B, S) and return the state before the first step.

        Raises:
            ValueError: the source is longer than `max_length`.
        """
        if source.shape[1] > self.max_length:
            raise ValueError(
                f"source must be at most {self.max_length} tokens long, got {source.shape[1]}"
            )
        if mask is None:
            mask = torch.ones_like(source, dtype=torch.bool)
        mask = mask.expand(source.shape)
        states, summary = self.encoder(source, mask=mask)
        return self.decoder.start(states, summary, mask=mask)

    @accepts(last_tokens=tokens("B", below="decoder.embedding.num_embeddings"))
    def step(self, state: DecoderState, last_tokens: Tensor):
        """Process last_tokens (B,); return log_probs (B, V) and the next state."""
        instance(self.decoder.state_type, "from `start` or `step`").check("state", state)
        if len(last_tokens) != len(state.memory.mask):
            raise ValueError(
                f"last_tokens must be {len(state.memory.mask)}, one for each source of the state, "
                f"got {len(last_tokens)}"
            )
        logits, state = self.decoder.step(state, last_tokens)
        return logits.log_softmax(dim=-1), state

    @accepts(batch=BATCH, forced=fraction, own=choice(OWN), generator=generator)
    def forward(
        self,
        batch: Batch,
        *,
        forced: float = 1.0,
        own: str = "likeliest",
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Decode along the target; with teacher forcing, each step receives the true token.

        Args:
            batch: B pairs; see `gates2heads.data.batches.pairs.Batch`.
            forced, own, generator: how often the input of a step is the true token, and what it is
                otherwise; see `forcing.unroll`.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.

        Raises:
            TypeError, ValueError: `start` rejects its source, or its target is empty, contains no
                token numbers of the decoder, or is of another batch size.
        """
        state = self.start(batch.source, mask=batch.source_mask)
        check_target(self, batch)
        return unroll(
            self.decoder.step,
            state,
            batch.target_in,
            forced=forced,
            own=own,
            generator=generator,
            force=getattr(self.decoder, "force", None),
        )


@accepts(
    source_size=natural,
    target_size=natural,
    embedding_size=natural,
    hidden_size=natural,
    score=maybe(choice(SCORES)),
    max_length=natural,
)
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
        attention = None if score is None else Attention(SCORES[score](hidden_size, hidden_size))
        encoder = RecurrentEncoder(source_size, embedding_size, hidden_size, bidirectional=True)
        decoder = Decoder(target_size, embedding_size, hidden_size, attention)
        super().__init__(encoder, decoder, max_length=max_length)
