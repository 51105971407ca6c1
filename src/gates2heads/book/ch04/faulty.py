"""Chapter 4, a bug to find: an encoder–decoder trained with teacher forcing, with one bug."""

from dataclasses import replace

from torch import Tensor

from gates2heads.accepts import accepts, instance, natural
from gates2heads.data.batches.pairs import Batch
from gates2heads.grading.paper import bug_check
from gates2heads.models.translation.seq2seq import EncoderDecoder

FAULTS = {
    "a": "the test dates are also in the training set",
    "b": "each step receives the character that it must predict, not the previous one",
    "c": "the context vector never reaches the decoder",
    "d": "greedy decoding starts every step from the initial state, not from the previous one",
}


class FaultyPair(EncoderDecoder):
    """The library's encoder–decoder with one bug, which the reader is to find."""

    @accepts(batch=instance(Batch, "as `collate` makes"))
    def forward(self, batch: Batch, **options) -> Tensor:
        """As in `EncoderDecoder`, except for the bug."""
        return super().forward(replace(batch, target_in=batch.target_out), **options)


@accepts(source_size=natural, target_size=natural)
def faulty_pair(source_size: int, target_size: int) -> EncoderDecoder:
    """Make an encoder–decoder without attention, with the bug.

    Args:
        source_size, target_size: the two vocabulary sizes.
    """
    return FaultyPair(source_size, target_size, score=None, embedding_size=32, hidden_size=128)


check_fault = bug_check(
    "Exercise 4.5",
    FAULTS,
    {
        "a": "That explains a low cross-entropy after long training, but not after so few batches. "
        "And greedy decoding would then be at least as accurate as in a correct network, and "
        "another day's date would have a high cross-entropy.",
        "c": "That explains why greedy decoding fails and why the source does not matter. But a "
        "decoder that must guess the date has a cross-entropy of at least 1 nat per token.",
        "d": "That explains why greedy decoding fails. But the cross-entropy under teacher forcing "
        "would then be that of a correct network, because it is computed without greedy decoding.",
    },
    closing=": it has learned to copy its input and ignores the source.",
)
