"""Chapter 7, the ablations: a small Transformer that translates dates, with one component removed.

All of them get the same pairs, batches, steps and initial seed. `CHANGES` lists what differs.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, instance, maybe, natural
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.blocks import Residual
from gates2heads.layers.norms import BatchNorm
from gates2heads.layers.transformer_layers import DecoderLayer
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.losses import sequence_loss

SIZES = {
    "d_model": 64,
    "nhead": 4,
    "num_encoder_layers": 3,
    "num_decoder_layers": 3,
    "dim_feedforward": 128,
    "dropout": 0.0,
}
DEPTHS = ("num_encoder_layers", "num_decoder_layers")
STEPS, BATCH_SIZE, WARMUP, RATE, DECAY = 300, 32, 60, 3e-3, 0.5
TRAINED, FEW, TESTED, LONGEST = 20_000, 500, 300, 12
CHANGES = {
    "whole": "nothing is removed",
    "no residuals": "the output of a sublayer replaces its input instead of being added to it",
    "no norms": "nothing is normalised",
    "no feed-forward": "attention alone, without the position-wise networks",
    "no positions": "no positional encoding",
    "no causal mask": "during training, the decoder attends to the tokens that it has to predict",
    "no warm-up": "the learning rate begins at its peak",
    "post-norm": "normalisation follows the addition, as in the paper",
    "post-norm, no warm-up": "both",
    "RMSNorm": "divide by the root mean square alone",
    "BatchNorm": "mean and standard deviation of each feature over the batch",
    "post-norm, BatchNorm": "both",
    "few dates": f"{FEW} training pairs instead of {TRAINED:,}",
    "few dates, smoothed": "the same pairs, and labels smoothed by 0.1",
}


class DateData(NamedTuple):
    """Encoded training pairs, inputs and references of the test, and both tokenizers."""

    train: list[tuple[list[int], list[int]]]
    tested: list[tuple[str, str]]
    source: CharacterTokenizer
    target: CharacterTokenizer


@lru_cache(maxsize=1)
def date_data() -> DateData:
    """The dates of this chapter: 20,000 for training, and 300 of other days for the test."""
    train, tested = (
        [(pair.text, pair.iso) for pair in dates(split, size)]
        for split, size in (("train", TRAINED), ("validation", TESTED))
    )
    sides = zip(*train, *tested, strict=True)
    source, target = (CharacterTokenizer.from_texts(side) for side in sides)
    return DateData(encode_pairs(train, source, target), tested, source, target)


class NoResidual(Residual):
    """The output of a sublayer replaces its input."""

    def after(self, vectors: Tensor, computed: Tensor) -> Tensor:
        """The computed vectors (B, S, D), normalised if the norm is here."""
        return computed if self.norm_first else self.norm(computed)


class NoFeedForward(nn.Module):
    """Adds nothing to vectors (B, S, D)."""

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, S, D) zeros."""
        return torch.zeros_like(vectors)


class Unplaced(nn.Module):
    """Adds no positional encoding to vectors (B, S, D)."""

    def forward(self, vectors: Tensor, *, start: int = 0) -> Tensor:
        """The same vectors."""
        return vectors


class LeakingLayer(DecoderLayer):
    """A decoder block whose positions attend to later ones too, during training."""

    def forward(self, vectors, memory, *, mask=None, memory_mask=None, causal=False):
        """As `DecoderLayer.forward`, without the causal mask."""
        return super().forward(vectors, memory, mask=mask, memory_mask=memory_mask, causal=False)


class RealBatchNorm(BatchNorm):
    """BatchNorm that receives before each pass the mask of the real tokens."""

    real: Tensor | None = None

    def forward(self, vectors: Tensor) -> Tensor:
        """Normalise vectors (B, S, D) feature by feature."""
        return super().forward(vectors, mask=self.real if self.training else None)


def _without_residuals(model: Transformer) -> None:
    for module in _all(model, Residual):
        module.__class__ = NoResidual


def _without_norms(model: Transformer) -> None:
    for residual in _all(model, Residual):
        residual.norm = nn.Identity()
    model.encoder_norm, model.decoder_norm = nn.Identity(), nn.Identity()


def _without_feed_forward(model: Transformer) -> None:
    for layer in (*model.encoder_layers, *model.decoder_layers):
        layer.feed_forward = NoFeedForward()


def _without_positions(model: Transformer) -> None:
    model.source_positions, model.target_positions = Unplaced(), Unplaced()


def _without_mask(model: Transformer) -> None:
    for layer in model.decoder_layers:
        layer.__class__ = LeakingLayer


def _with_batch_norm(model: Transformer) -> None:
    for residual in _all(model, Residual):
        residual.norm = RealBatchNorm(model.d_model)
    for name in ("encoder_norm", "decoder_norm"):
        if not isinstance(getattr(model, name), nn.Identity):
            setattr(model, name, RealBatchNorm(model.d_model))
    model.register_forward_pre_hook(_tell_real_tokens)


def _tell_real_tokens(model: Transformer, given: tuple) -> None:
    for name, module in model.named_modules():
        if isinstance(module, RealBatchNorm):
            read = name.startswith("encoder")
            module.real = given[0].source_mask if read else given[0].target_mask


def _all(model: nn.Module, kind: type) -> list[nn.Module]:
    return [module for module in model.modules() if isinstance(module, kind)]


_BUILT: dict[str, Callable[[Transformer], None]] = {
    "no residuals": _without_residuals,
    "no norms": _without_norms,
    "no feed-forward": _without_feed_forward,
    "no positions": _without_positions,
    "no causal mask": _without_mask,
    "BatchNorm": _with_batch_norm,
    "post-norm, BatchNorm": _with_batch_norm,
}


@accepts(change=choice(CHANGES), blocks=maybe(natural))
def changed_transformer(change: str, *, blocks: int | None = None) -> Transformer:
    """A small Transformer for `date_data()`, randomly initialised, with one change.

    Args:
        change: one of `CHANGES`; for those of data and schedule, the model is complete.
        blocks: how many there are on each side; if not given, as many as in `SIZES`.
    """
    data = date_data()
    depths = {} if blocks is None else dict.fromkeys(DEPTHS, blocks)
    model = Transformer(
        len(data.source.vocabulary),
        len(data.target.vocabulary),
        norm_first=not change.startswith("post-norm"),
        norm="rms" if change == "RMSNorm" else "layer",
        **(SIZES | depths),
    )
    _BUILT.get(change, lambda model: None)(model)
    return model


@accepts(model=instance(Transformer))
@torch.no_grad()
def use_linear_default(model: Transformer) -> None:
    """Give all matrices and biases of a model's sublayers the default of `torch.nn.Linear`.

    The constructor of `Transformer` uses Xavier initialisation instead. Embeddings do not change.
    """
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            bound = module.embed_dim**-0.5  # queries, keys and values: three layers of D inputs
            module.in_proj_weight.uniform_(-bound, bound)
            module.in_proj_bias.uniform_(-bound, bound)
        elif isinstance(module, nn.Linear):
            module.reset_parameters()


@accepts(change=choice(CHANGES))
def loss_for(change: str) -> Callable:
    """The loss that a change is trained with: `sequence_loss`, with smoothed labels or not."""
    return partial(sequence_loss, label_smoothing=0.1 if change.endswith("smoothed") else 0.0)
