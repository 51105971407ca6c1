"""Chapter 7, when it breaks: a Transformer that is trained well and writes badly."""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from gates2heads.accepts import a, accepts, count, mask, tokens
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.exercises.verdict import check, chosen_fault
from gates2heads.models.transformer.transformer import Transformer

FAULTS = {
    "a": "while it trained, the decoder saw the tokens that it was to write",
    "b": "each step believes that its token stands at place 0",
    "c": "dropout is still on",
    "d": "the encoder reads padding as if it were text",
}


class AlwaysFirst(nn.Module):
    """Positions that do not hear where the first vector stands.

    Args:
        positions: the module that they are made of.
    """

    def __init__(self, positions: nn.Module):
        super().__init__()
        self.positions = positions

    def forward(self, vectors: Tensor, *, start: int = 0) -> Tensor:
        """Tell vectors (B, L, D) that they stand at the places from 0 on."""
        return self.positions(vectors)


@accepts(model=a(Transformer))
def faulty_writer(model: Transformer) -> Transformer:
    """A copy of a Transformer, with its weights and one fault, which the reader is to find."""
    faulty = deepcopy(model)
    faulty.target_positions = AlwaysFirst(faulty.target_positions)
    return faulty


@accepts(
    model=a(Transformer),
    source=tokens("B S", below="model.source_size"),
    mask=mask("B S"),
    max_length=count,
)
@torch.no_grad()
def write_anew(
    model: Transformer, source: Tensor, *, mask: Tensor | None = None, max_length: int = 12
) -> list[list[int]]:
    """Write greedily, and read all that is written anew for every token: no cache.

    Args:
        model: writes.
        source: (B, S) long.
        mask: (B, S) bool, True = a real token.
        max_length: how many tokens are written, at most as many as the model has places for.

    Returns:
        for each source the tokens up to the first `<eos>`, which is left out.

    Raises:
        TypeError, ValueError: it is no Transformer, the source holds no tokens of its vocabulary,
            the mask does not fit, or the length is no count.
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


@check("Exercise 7.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty writer: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then it would write nonsense without the cache too: what it learned to copy is not "
        "there when it writes.",
        "c": "Then writing the same dates twice would give different answers.",
        "d": "Then a date would be written otherwise beside a longer one than alone.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return (
        f"{fault}: under teacher forcing all places are there, with the cache only one at a time."
    )
