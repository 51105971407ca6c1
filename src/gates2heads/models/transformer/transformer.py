"""The Transformer: an encoder–decoder based on attention alone."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    Call,
    accepts,
    boolean_mask,
    choice,
    flag,
    floats,
    fraction,
    instance,
    maybe,
    natural,
    tokens,
)
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.blocks import ACTIVATIONS
from gates2heads.layers.masks import key_mask
from gates2heads.layers.norms import NORMS
from gates2heads.layers.positions import LearnedPositions, SinusoidalPositions
from gates2heads.layers.transformer_layers import DecoderLayer, EncoderLayer
from gates2heads.models.transformer.state import TransformerState

TIES = ("target", "all")
TARGET = tokens("B T", below="target_size")
POSITIONS = ("sinusoidal", "learned")


@accepts(
    source_size=natural,
    target_size=natural,
    d_model=natural,
    nhead=natural,
    num_encoder_layers=natural,
    num_decoder_layers=natural,
    dim_feedforward=natural,
    dropout=fraction,
    activation=choice(ACTIVATIONS),
    norm_first=flag,
    norm=choice(NORMS),
    tie=maybe(choice(TIES)),
    positions=choice(POSITIONS),
    rotary=flag,
    max_length=natural,
)
class Transformer(nn.Module):
    """Encode the source with self-attention, decode the target with self- and cross-attention.

    Source: Vaswani et al. 2017. Departs from it in the defaults: pre-norm (Xiong et al. 2020),
    which trains without a long warm-up, with one more norm at the end of each stack; and small
    sizes. `norm_first=False` is the paper's.

    Args:
        source_size, target_size: the two vocabulary sizes.
        d_model: width D.
        nhead: number of heads H.
        num_encoder_layers, num_decoder_layers: the numbers of layers of the two stacks.
        dim_feedforward: width F of the feed-forward networks.
        dropout: on embeddings and on the output of each sublayer, section 5.4.
        activation: "relu", "gelu" or "silu".
        norm_first: True is pre-norm, False post-norm.
        norm: "layer" or "rms".
        tie: "target" shares one matrix between target embedding and output projection; "all" shares
            it with the source embedding too, section 3.4, and needs one vocabulary; None shares
            nothing.
        positions: "sinusoidal" or "learned".
        rotary: self-attention also rotates its queries and keys by their positions; see `rotate`.
        max_length: the longest source and target that the model accepts, in tokens.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        d_model: int = 256,
        nhead: int = 4,
        num_encoder_layers: int = 3,
        num_decoder_layers: int = 3,
        dim_feedforward: int = 512,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = True,
        norm: str = "layer",
        tie: str | None = "target",
        positions: str = "sinusoidal",
        rotary: bool = False,
        max_length: int = 512,
    ):
        super().__init__()
        if tie == "all" and source_size != target_size:
            raise ValueError(
                "tie 'all' needs one vocabulary for source and target, got "
                f"{source_size} and {target_size} tokens"
            )
        self.d_model, self.dropout, self.max_length = d_model, dropout, max_length
        self.source_size, self.target_size, self.tie = source_size, target_size, tie
        sizes = (d_model, nhead, dim_feedforward, dropout, activation)
        options = {"norm_first": norm_first, "norm": norm, "rotary": rotary}
        self._build_layers(num_encoder_layers, num_decoder_layers, sizes, options)
        last = NORMS[norm] if norm_first else nn.Identity
        self.encoder_norm, self.decoder_norm = last(d_model), last(d_model)
        learned = positions == "learned"
        self.source_positions, self.target_positions = (
            LearnedPositions(max_length, d_model) if learned else SinusoidalPositions(d_model)
            for _ in range(2)
        )
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "positions" not in name:
                nn.init.xavier_uniform_(parameter)
        self._build_tables()

    def _build_layers(self, encoder_depth: int, decoder_depth: int, sizes, options) -> None:
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(*sizes, **options) for _ in range(encoder_depth)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(*sizes, **options) for _ in range(decoder_depth)
        )

    def _build_tables(self) -> None:
        """Embeddings and output projection. A shared matrix is registered and saved once."""

        def table(size: int) -> nn.Parameter:
            drawn = torch.empty(size, self.d_model)
            if not drawn.is_meta:  # whose initialisation would only import a module for a second
                drawn.normal_().div_(math.sqrt(self.d_model))
            return nn.Parameter(drawn)

        self.target_table = table(self.target_size)
        self.source_table = None if self.tie == "all" else table(self.source_size)
        self.readout_table = table(self.target_size) if self.tie is None else None
        self.readout_bias = nn.Parameter(torch.zeros(self.target_size))

    def _encoder_stack(self) -> list[EncoderLayer]:
        """The encoder's layers in the order in which they are applied."""
        return list(self.encoder_layers)

    def _decoder_stack(self) -> list[DecoderLayer]:
        """The decoder's layers in the order in which they are applied."""
        return list(self.decoder_layers)

    def _add_positions(self, vectors: Tensor, positions: nn.Module, *, depth: int, start: int = 0):
        """Add positional encodings to vectors (B, T, D) before the first layer, `depth` 0."""
        if depth:
            return vectors
        return F.dropout(positions(vectors, start=start), self.dropout, self.training)

    def _embed(self, tokens: Tensor, table: Tensor) -> Tensor:
        """Embed tokens (B, L), scaled to match the positional encodings: (B, L, D)."""
        return F.embedding(tokens, table) * math.sqrt(self.d_model)

    @accepts(source=tokens("B S", below="source_size"), mask=boolean_mask("B S"))
    def encode(self, source: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Encode source (B, S) under mask (B, S): vectors (B, S, D)."""
        _check_length("source", source, self.max_length)
        table = self.target_table if self.source_table is None else self.source_table
        vectors = self._embed(source, table)
        for depth, layer in enumerate(self._encoder_stack()):
            vectors = self._add_positions(vectors, self.source_positions, depth=depth)
            vectors = layer(vectors, mask=key_mask(mask))
        return self.encoder_norm(vectors)

    def _memory(self, vectors: Tensor) -> tuple[KeyValues, ...]:
        """The keys and values of the source (B, S, D) for each decoder layer."""
        return tuple(layer.cross_attn.project(vectors) for layer in self.decoder_layers)

    @accepts(vectors=floats("… d_model"))
    def readout(self, vectors: Tensor) -> Tensor:
        """Turn decoder vectors (B, T, D) into logits (B, T, V)."""
        table = self.target_table if self.readout_table is None else self.readout_table
        return F.linear(self.decoder_norm(vectors), table, self.readout_bias)

    def start(self, source: Tensor, *, mask: Tensor | None = None) -> TransformerState:
        """Encode source (B, S) under mask (B, S) and return the state before the first step."""
        vectors = self.encode(source, mask=mask)
        memory = self._memory(vectors)
        # The empty past has no target position yet: (B, H, 0, K)
        past = tuple(KeyValues(keys[:, :, :0], values[:, :, :0]) for keys, values in memory)
        if mask is None:
            mask = torch.ones_like(source, dtype=torch.bool)
        return TransformerState(past, memory, mask.expand(source.shape))

    @accepts(
        state=instance(TransformerState, "from `start` or `step`"),
        last_tokens=tokens("B", below="target_size"),
    )
    def step(self, state: TransformerState, last_tokens: Tensor):
        """Process last_tokens (B,); return log_probs (B, V) and the next state."""
        check_rows(last_tokens, state.size)
        vectors = self._embed(last_tokens[:, None], self.target_table)  # (B, 1, D)
        start, extended = state.past[0].keys.shape[2], []
        mask = None if bool(state.mask.all()) else key_mask(state.mask)
        options = {"memory_mask": mask, "order": state.order, "readers": state.readers}
        layers = zip(self._decoder_stack(), state.past, state.memory, strict=True)
        for depth, (layer, before, memory) in enumerate(layers):
            vectors = self._add_positions(vectors, self.target_positions, depth=depth, start=start)
            vectors, past = layer.step(vectors, before, memory, **options)
            extended.append(past)
        log_probs = self.readout(vectors)[:, 0].log_softmax(dim=-1)  # (B, V)
        return log_probs, state._replace(past=tuple(extended), order=None)

    @accepts(batch=instance(Batch, "as `collate` makes"))
    def forward(self, batch: Batch) -> Tensor:
        """Teacher forcing: all target positions in parallel, none of which attends to a later one.

        Padding is at the end of a target, where no real token can attend to it.

        Args:
            batch: B pairs; see `gates2heads.data.batches.pairs.Batch`.

        Returns:
            logits (B, T, V): row t predicts `batch.target_out[:, t]`.
        """
        check_target(self, batch, self.max_length)
        source = self.encode(batch.source, mask=batch.source_mask)
        vectors = self._embed(batch.target_in, self.target_table)
        layers = zip(self._decoder_stack(), self._memory(source), strict=True)
        for depth, (layer, memory) in enumerate(layers):
            vectors = self._add_positions(vectors, self.target_positions, depth=depth)
            vectors = layer(vectors, memory, memory_mask=key_mask(batch.source_mask))
        return self.readout(vectors)


def check_target(model: Transformer, batch: Batch, longest: int) -> None:
    """Reject a batch whose target is not token numbers, too long, or of another batch size.

    Raises:
        TypeError, ValueError: with a message that names the problem.
    """
    TARGET.check("target_in", batch.target_in, Call({"self": model}))
    _check_length("target_in", batch.target_in, longest)
    if len(batch.target_in) != len(batch.source):
        raise ValueError(
            "source and target_in must agree in batch, got "
            f"{len(batch.source)} and {len(batch.target_in)} rows"
        )


def check_rows(last_tokens: Tensor, rows: int) -> None:
    """Reject tokens (B,) that are not one for each of a state's sequences.

    Raises:
        ValueError: with a message that states both numbers.
    """
    if len(last_tokens) != rows:
        raise ValueError(
            f"last_tokens must have shape ({rows},), one token per sequence, got "
            f"{tuple(last_tokens.shape)}"
        )


def _check_length(name: str, read: Tensor, longest: int) -> None:
    if read.shape[1] > longest:
        raise ValueError(f"{name} must be at most {longest} tokens long, got {read.shape[1]}")
