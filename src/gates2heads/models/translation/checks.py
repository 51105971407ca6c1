"""What translators refuse: sizes, parts that do not fit each other, and what they cannot read."""

from typing import Any

from torch import Tensor, nn

from gates2heads.accepts.shown import shown
from gates2heads.checks.models import check_last_tokens, check_length, check_state
from gates2heads.checks.tensors import check_device, check_mask, check_tokens
from gates2heads.checks.values import check_count, check_share
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.attention.scores import SCORES
from gates2heads.layers.attention.single_head import Attention


def check_sizes(
    vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
) -> None:
    """Refuse sizes and shares that no encoder and no decoder can have.

    Raises:
        TypeError, ValueError: one of them is no count, or no share.
    """
    check_count("vocabulary_size", vocabulary_size)
    check_count("embedding_size", embedding_size)
    check_count("hidden_size", hidden_size)
    check_share("dropout", dropout)


def check_halves(hidden_size: int) -> None:
    """Refuse a width that two directions cannot share evenly.

    Raises:
        ValueError: it is odd.
    """
    if hidden_size % 2:
        raise ValueError(f"hidden_size must be even (half a direction), got {hidden_size}")


def check_attention(attention: Attention, hidden_size: int) -> None:
    """Refuse what does not attend from the decoder's states to the encoder's, both U wide.

    Raises:
        TypeError: it is no attention layer.
        ValueError: it reads queries or keys of another width.
    """
    if not isinstance(attention, Attention):
        raise TypeError(f"attention must be an attention layer, got {shown(attention)}")
    sizes = (attention.score.query_size, attention.score.key_size)
    if sizes != (hidden_size, hidden_size):
        raise ValueError(
            f"attention must read queries and keys of hidden_size {hidden_size}, got {sizes}"
        )


def check_translator(
    source_size: int, target_size: int, embedding_size: int, hidden_size: int, score: str | None
) -> None:
    """Refuse what no encoder–decoder can be built from.

    Raises:
        TypeError, ValueError: a size is no count, or `score` neither None nor a name in `SCORES`.
    """
    check_count("source_size", source_size)
    check_count("target_size", target_size)
    check_count("embedding_size", embedding_size)
    check_count("hidden_size", hidden_size)
    if score is not None and not (isinstance(score, str) and score in SCORES):
        raise ValueError(f"score must be None or one of {', '.join(SCORES)}, got {shown(score)}")


def check_parts(encoder: nn.Module, decoder: nn.Module) -> None:
    """Refuse an encoder and a decoder that cannot be joined.

    Raises:
        TypeError, ValueError: one of them is no encoder or decoder, or their widths differ.
    """
    for name, part in (("encoder", encoder), ("decoder", decoder)):
        if not (isinstance(part, nn.Module) and hasattr(part, "hidden_size")):
            raise TypeError(f"{name} must be a module with a `hidden_size`, got {shown(part)}")
    if not hasattr(decoder, "state_type"):
        raise TypeError(f"decoder must have a `state_type`, got {type(decoder).__name__}")
    if encoder.hidden_size != decoder.hidden_size:
        raise ValueError(
            "encoder and decoder must have the same hidden_size, got "
            f"{encoder.hidden_size} and {decoder.hidden_size}"
        )


def check_source(model: nn.Module, source: Tensor, mask: Tensor | None) -> None:
    """Refuse a source (B, S) or a mask (B, S) that the model's encoder cannot read.

    Raises:
        TypeError, ValueError: the source is empty, too long or no integer tensor, or the mask is
            not bool or does not fit.
    """
    check_device(model.encoder, source=source)
    check_tokens("source", source, model.encoder.embedding.num_embeddings)
    check_length("source", source.shape[1], model.max_length)
    check_mask(mask, source.shape, like=source)


def check_step(model: nn.Module, state: Any, last_tokens: Tensor) -> None:
    """Refuse a state or last_tokens (B,) from which the model's decoder cannot go on.

    Raises:
        TypeError, ValueError: the state is not the decoder's, or there is not one token number
            for each of its sequences.
    """
    check_state(state, model.decoder.state_type)
    vocabulary_size = model.decoder.embedding.num_embeddings
    check_device(model.decoder, last_tokens=last_tokens)
    check_last_tokens(last_tokens, len(state.memory.mask), vocabulary_size)


def check_batch(batch: Batch) -> None:
    """Refuse what is no batch of pairs.

    Raises:
        TypeError: with a sentence that says what makes one.
    """
    if not isinstance(batch, Batch):
        kind = type(batch).__name__
        raise TypeError(f"batch must be a Batch, as `collate` makes, got {kind}")


def check_target(model: nn.Module, batch: Batch) -> None:
    """Refuse a batch whose targets (B, T) the model's decoder cannot read.

    Raises:
        TypeError, ValueError: they are empty, no integer tensor or of another batch size.
    """
    check_device(model.decoder, target_in=batch.target_in)
    check_tokens("target_in", batch.target_in, model.decoder.embedding.num_embeddings)
    if len(batch.target_in) != len(batch.source):
        raise ValueError(
            "source and target_in must agree in batch, got "
            f"{len(batch.source)} and {len(batch.target_in)} rows"
        )
