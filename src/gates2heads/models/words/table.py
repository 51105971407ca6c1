"""Word vectors as they are handed on: a row for each word, whatever model made them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, count
from gates2heads.checks.values import check_count, check_texts
from gates2heads.data.batches.windows import check_counts
from gates2heads.metrics.word_vectors import WordVectors


@accepts(vector_size=count)
class WordTable(nn.Module):
    """A vector for each of some words.

    Args:
        words: V distinct words, by falling frequency.
        counts: (V,), how often each stands in the text from which the vectors were learned.
        vector_size: width D.

    Raises:
        TypeError, ValueError: no words or the same twice, counts that are none or not V.
    """

    def __init__(self, words: Sequence[str], counts: Tensor, vector_size: int):
        super().__init__()
        check_texts("words", words)
        check_counts(counts)
        check_count("vector_size", vector_size)
        if len(set(words)) < len(words) or len(words) != len(counts):
            raise ValueError(
                f"words must be distinct and as many as counts, got {len(words)} words, "
                f"{len(set(words))} of them distinct, and {len(counts)} counts"
            )
        self.words = list(words)
        self.counts = counts.float()  # no weights: they stand in the card
        self.vectors = nn.Embedding(len(words), vector_size)

    def compared(self) -> WordVectors:
        """The words with their vectors, ready to be compared."""
        return WordVectors(self.words, self.vectors.weight.detach())

    @classmethod
    def of(cls, words: Sequence[str], counts: Tensor, vectors: Tensor) -> "WordTable":
        """A table that holds given vectors (V, D).

        Raises:
            TypeError, ValueError: as in `WordVectors`, or as in the constructor.
        """
        check_texts("words", words)
        width = WordVectors(words, vectors).unit.shape[1]
        table = cls(words, counts, width)
        with torch.no_grad():
            table.vectors.weight.copy_(vectors)
        return table
