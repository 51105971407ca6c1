"""Chapter 4, a bug to find: an encoder–decoder trained with teacher forcing, with one bug."""

from dataclasses import replace

from torch import Tensor

from gates2heads.accepts import a, accepts, count
from gates2heads.data.batches.pairs import Batch
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.models.translation.seq2seq import EncoderDecoder

FAULTS = {
    "a": "the loss includes the padding",
    "b": "each step receives the character that it must predict, not the previous one",
    "c": "the decoder never receives the context vector",
    "d": "the encoder reads right to left in training, and left to right at test time",
}


class FaultyPair(EncoderDecoder):
    """The library's encoder–decoder with one bug, which the reader is to find."""

    @accepts(batch=a(Batch, "as `collate` makes"))
    def forward(self, batch: Batch, **options) -> Tensor:
        """As in `EncoderDecoder`, except for the bug."""
        return super().forward(replace(batch, target_in=batch.target_out), **options)


@accepts(source_size=count, target_size=count)
def faulty_pair(source_size: int, target_size: int) -> EncoderDecoder:
    """Make an encoder–decoder without attention, with the bug.

    Args:
        source_size, target_size: the two vocabulary sizes.
    """
    return FaultyPair(source_size, target_size, score=None, embedding_size=32, hidden_size=128)


@check("Exercise 4.5")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the bug: one letter of `FAULTS`."""
    contradiction = {
        "a": "All targets are equally long, so there is no padding.",
        "c": "Then it could not know the date, and the cross-entropy would stay high. It does not.",
        "d": "Then the cross-entropy of correct dates would be high at test time; it is near 0.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}: it has learned to copy its input and ignores the source."
