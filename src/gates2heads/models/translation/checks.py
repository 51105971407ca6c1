"""Checks of a translation model: components, widths, and the two sides of a batch."""

from torch import nn

from gates2heads.accepts import Call, instance, tokens
from gates2heads.data.batches.pairs import Batch
from gates2heads.layers.attention.single_head import Attention

BATCH = instance(Batch, "from `collate`")


def check_halves(hidden_size: int) -> None:
    """Reject a width that cannot be split evenly between two directions.

    Raises:
        ValueError: it is odd.
    """
    if hidden_size % 2:
        raise ValueError(f"hidden_size must be even (half a direction), got {hidden_size}")


def check_attention(attention: Attention, hidden_size: int) -> None:
    """Reject attention that does not fit the states of decoder and encoder, both U wide.

    Raises:
        ValueError: its queries or keys have another width.
    """
    sizes = (attention.score.query_size, attention.score.key_size)
    if sizes != (hidden_size, hidden_size):
        raise ValueError(
            f"attention must read queries and keys of hidden_size {hidden_size}, got {sizes}"
        )


def check_parts(encoder: nn.Module, decoder: nn.Module) -> None:
    """Reject an encoder and a decoder that cannot be combined.

    Raises:
        TypeError, ValueError: one of them is not an encoder or decoder, or their widths differ.
    """
    for name, part in (("encoder", encoder), ("decoder", decoder)):
        if not hasattr(part, "hidden_size"):
            raise TypeError(f"{name} must have a `hidden_size`, got {type(part).__name__}")
    if not hasattr(decoder, "state_type"):
        raise TypeError(f"decoder must have a `state_type`, got {type(decoder).__name__}")
    if encoder.hidden_size != decoder.hidden_size:
        raise ValueError(
            "encoder and decoder must have the same hidden_size, got "
            f"{encoder.hidden_size} and {decoder.hidden_size}"
        )


def check_target(model: nn.Module, batch: Batch) -> None:
    """Reject a batch whose targets (B, T) are invalid for the model's decoder.

    Raises:
        TypeError, ValueError: they are empty, not token numbers, or of another batch size.
    """
    size = model.decoder.embedding.num_embeddings
    tokens("B T", below=size).check("target_in", batch.target_in, Call({"self": model}))
    if len(batch.target_in) != len(batch.source):
        raise ValueError(
            "source and target_in must agree in batch, got "
            f"{len(batch.source)} and {len(batch.target_in)} rows"
        )
