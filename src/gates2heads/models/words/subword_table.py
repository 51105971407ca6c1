"""Subword vectors for distribution: known words, and any other from their n-grams."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, counts, floats, natural, strings
from gates2heads.accepts.shown import shown
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words.subword import Subwords
from gates2heads.models.words.table import CountedWords


class SubwordVectors(WordVectors):
    """Known words with their vectors; any other word is compared by its known n-grams.

    An n-gram is known if it is one of some known word. The others were never trained, and are left
    out of the mean.

    Args:
        words: V distinct words.
        table: from which their vectors are made.
    """

    def __init__(self, words: Sequence[str], table: Subwords):
        super().__init__(words, table.all_words())
        self.table = table
        self.known_ngrams = {ngram for word in self.words for ngram in table.ngrams(word)}

    def known_pieces(self, word: str) -> list[str]:
        """The n-grams of a word that are also in a known word."""
        return [one for one in self.table.ngrams(word) if one in self.known_ngrams]

    def __contains__(self, word: str) -> bool:
        return word in self.index or bool(self.known_pieces(word))

    def vector_of(self, word: str) -> Tensor:
        """(D,): the mean of the vectors of a word's known n-grams, whether it is known or not.

        Raises:
            ValueError: it has none.
        """
        return self._pieces(word).mean(0)

    def unit_vector(self, word: str) -> Tensor:
        """(D,): the vector of a word, scaled to length 1; of an unseen word, from its n-grams.

        Raises:
            ValueError: none of its n-grams is known.
        """
        return super().unit_vector(word) if word in self.index else self._unit(word)

    def carried_by(self, word: str) -> list[tuple[str, float]]:
        """The known n-grams of a word and what each contributes to its vector, largest first.

        With v the mean of n vectors g, the share of one is g · v / (n v · v); the shares sum to 1.

        Raises:
            ValueError: the word has no known n-gram.
        """
        pieces = self._pieces(word).double()
        mean = pieces.mean(0)
        shares = (pieces @ mean / (len(pieces) * (mean @ mean).clamp_min(1e-300))).tolist()
        named = zip(self.known_pieces(word), shares, strict=True)
        return sorted(named, key=lambda pair: -pair[1])

    def _unit(self, word: str) -> Tensor:
        return F.normalize(self.vector_of(word), dim=0)

    def _pieces(self, word: str) -> Tensor:
        known = self.known_pieces(word)
        if not known:
            raise ValueError(
                f"word must share a character n-gram with a known word, got {shown(word)}"
            )
        return self.table.weight.detach()[self.table.rows_of(known)]

    def _check_known(self, **words: str) -> None:
        for name, word in words.items():
            if not isinstance(word, str) or word not in self:
                raise ValueError(
                    f"{name} must share a character n-gram with a known word, got {shown(word)}"
                )


@accepts(
    words=strings(least=1),
    counts=counts("V"),
    vector_size=natural,
    buckets=natural,
    own=natural(least=0),
    shortest=natural,
    longest=natural,
)
class SubwordTable(CountedWords):
    """Subword vectors for distribution: known words by name, and vectors for all others.

    Args:
        words: V distinct words, by falling frequency.
        counts: (V,), how often each occurs in the text from which the vectors were learned.
        vector_size: width D.
        buckets, own, shortest, longest: as in `Subwords`.

    Raises:
        ValueError: the same word twice, or not as many counts as words.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: Tensor,
        vector_size: int,
        *,
        buckets: int,
        own: int = 0,
        shortest: int = 3,
        longest: int = 5,
    ):
        super().__init__(words, counts)
        sizes = {"buckets": buckets, "own": own, "shortest": shortest, "longest": longest}
        self.vectors = Subwords(self.words, vector_size, **sizes)

    def compared(self) -> SubwordVectors:
        """The words with their vectors, ready to be compared, also with unseen words."""
        return SubwordVectors(self.words, self.vectors)

    @classmethod
    @accepts(words=strings(least=1), counts=counts("V"), table=floats("R D"))
    def of(cls, words: Sequence[str], counts: Tensor, table: Tensor, **sizes) -> "SubwordTable":
        """A table that holds given rows (R, D): those of `own` words, then those of buckets.

        Raises:
            ValueError: as in the constructor.
        """
        made = cls(words, counts, table.shape[1], **sizes)
        with torch.no_grad():
            made.vectors.weight.copy_(table)
        return made
