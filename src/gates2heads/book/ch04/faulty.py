"""Chapter 4, when it breaks: an encoder–decoder that learns from a teacher, with one fault."""

from dataclasses import replace

from torch import Tensor

from gates2heads.accepts import a, accepts, count
from gates2heads.data.batches.pairs import Batch
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.models.translation.seq2seq import EncoderDecoder

FAULTS = {
    "a": "padding is counted in the loss",
    "b": "each step reads the character that it should write, and not the one before it",
    "c": "the decoder is never shown the context vector",
    "d": "the encoder reads backwards while it learns, and forwards when it is tested",
}


class FaultyPair(EncoderDecoder):
    """The library's encoder–decoder with one fault, which the reader is to find."""

    @accepts(batch=a(Batch, "as `collate` makes"))
    def forward(self, batch: Batch, **options) -> Tensor:
        """As in `EncoderDecoder`, but for the fault."""
        return super().forward(replace(batch, target_in=batch.target_out), **options)


@accepts(source_size=count, target_size=count)
def faulty_pair(source_size: int, target_size: int) -> EncoderDecoder:
    """Make an encoder–decoder without attention, with the fault.

    Args:
        source_size, target_size: the two vocabulary sizes.
    """
    return FaultyPair(source_size, target_size, score=None, embedding_size=32, hidden_size=128)


@check("Exercise 4.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty pair: one letter of `FAULTS`."""
    contradiction = {
        "a": "All dates in ISO 8601 are equally long: there is no padding to count.",
        "c": "Then it could not know the date, and its surprise would stay high; it is near 0.",
        "d": "Then the right dates would surprise it when it is tested; they do not.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}: it has learned to copy what it reads, and never looked at the source."
