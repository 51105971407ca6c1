"""Word vectors for distribution: one row per word, whatever model learned them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, counts, floats, natural, strings
from gates2heads.metrics.words.vectors import WordVectors


class CountedWords(nn.Module):
    """The words of a table and how often each occurs; the base class of tables of word vectors.

    Args:
        words: V distinct words, by falling frequency.
        counts: (V,), how often each occurs in the text from which the vectors were learned.

    Raises:
        ValueError: the same word twice, or not as many counts as words.
    """

    def __init__(self, words: Sequence[str], counts: Tensor):
        super().__init__()
        if len(set(words)) < len(words) or len(words) != len(counts):
            raise ValueError(
                f"words must be distinct and as many as counts, got {len(words)} words, "
                f"{len(set(words))} of them distinct, and {len(counts)} counts"
            )
        self.words = list(words)
        self.counts = counts.float()  # no parameters: they are stored in the card


@accepts(words=strings(least=1), counts=counts("V"), vector_size=natural)
class WordTable(CountedWords):
    """A vector for each of some words.

    Args:
        words: V distinct words, by falling frequency.
        counts: (V,), how often each occurs in the text from which the vectors were learned.
        vector_size: width D.

    Raises:
        ValueError: the same word twice, or not as many counts as words.
    """

    def __init__(self, words: Sequence[str], counts: Tensor, vector_size: int):
        super().__init__(words, counts)
        self.vectors = nn.Embedding(len(words), vector_size)

    def compared(self) -> WordVectors:
        """The words with their vectors, ready to be compared."""
        return WordVectors(self.words, self.vectors.weight.detach())

    @classmethod
    @accepts(words=strings(least=1), counts=counts("V"), vectors=floats("V D"))
    def of(cls, words: Sequence[str], counts: Tensor, vectors: Tensor) -> "WordTable":
        """A table that holds given vectors (V, D).

        Raises:
            ValueError: as in the constructor.
        """
        table = cls(words, counts, vectors.shape[1])
        with torch.no_grad():
            table.vectors.weight.copy_(vectors)
        return table
