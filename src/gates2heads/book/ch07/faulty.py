"""Chapter 7, a bug to find: a Transformer that is trained well and translates badly."""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, boolean_mask, instance, natural, tokens
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.grading.paper import bug_check
from gates2heads.models.transformer.transformer import Transformer

FAULTS = {
    "a": "during training, the decoder could attend to the tokens that it had to predict",
    "b": "every decoding step encodes its token as if it were at position 0",
    "c": "dropout is still active",
    "d": "the encoder attends to padding",
}


class AlwaysFirst(nn.Module):
    """A positional encoding that ignores the position of the first vector.

    Args:
        positions: the module that encodes the positions.
    """

    def __init__(self, positions: nn.Module):
        super().__init__()
        self.positions = positions

    def forward(self, vectors: Tensor, *, start: int = 0) -> Tensor:
        """Encode vectors (B, T, D) as if they were at the first positions."""
        return self.positions(vectors)


@accepts(model=instance(Transformer))
def faulty_writer(model: Transformer) -> Transformer:
    """A copy of a Transformer, with its parameters and one bug, which the reader is to find."""
    faulty = deepcopy(model)
    faulty.target_positions = AlwaysFirst(faulty.target_positions)
    return faulty


@accepts(
    model=instance(Transformer),
    source=tokens("B S", below="model.source_size"),
    mask=boolean_mask("B S"),
    max_length=natural,
)
@torch.no_grad()
def write_anew(
    model: Transformer, source: Tensor, *, mask: Tensor | None = None, max_length: int = 12
) -> list[list[int]]:
    """Decode greedily without a cache: recompute the whole prefix for every token.

    Args:
        model: decodes.
        source: (B, S) long.
        mask: (B, S) bool, True = a real token.
        max_length: how many tokens are decoded, at most as many as the model has positions for.

    Returns:
        for each source the tokens up to the first `<eos>`, which is left out.

    Raises:
        ValueError: `max_length` is larger than that of the model.
    """
    if max_length > model.max_length:
        raise ValueError(f"max_length must be at most {model.max_length}, got {max_length}")
    mask = torch.ones_like(source, dtype=torch.bool) if mask is None else mask
    written = torch.full_like(source[:, :1], Vocabulary.bos)
    for _ in range(max_length):
        real = torch.ones_like(written, dtype=torch.bool)
        logits = model(Batch(source, mask, written, written, real))
        written = torch.cat([written, logits[:, -1:].argmax(-1)], dim=1)
    return [_up_to_end(row) for row in written[:, 1:].tolist()]


def _up_to_end(row: Sequence[int]) -> list[int]:
    return list(row[: row.index(Vocabulary.eos)]) if Vocabulary.eos in row else list(row)


check_fault = bug_check(
    "Exercise 7.6",
    FAULTS,
    {
        "a": "Then decoding without the cache would fail too: the later tokens, from which the "
        "model learned to copy, do not exist during decoding.",
        "c": "Then decoding the same dates twice would give different outputs.",
        "d": "Then a date would be translated differently in a batch with longer ones than alone.",
    },
    closing=". With teacher forcing, the positions are given in parallel; with the cache, a step "
    "gets one token and must be told its position.",
)
