"""Skip-gram with subwords: the vector of a word is the mean of those of its character n-grams."""

from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, natural, string
from gates2heads.models.words.block_kernel import RowAdagrad
from gates2heads.models.words.word2vec import Word2Vec

OFFSET, PRIME, BITS = 2166136261, 16777619, 0xFFFFFFFF  # of FNV-1a with 32 bits


@accepts(word=string, shortest=natural, longest=natural)
def character_ngrams(word: str, shortest: int = 3, longest: int = 5) -> list[str]:
    """The character n-grams of `<word>`, by where they begin and then by length.

    The two brackets mark the ends of the word, so that `<her` is a beginning and `her` need not be.

    Source: Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information", section 3.2.

    Args:
        word: any text.
        shortest, longest: the lengths n, brackets included.

    Raises:
        ValueError: the shortest is longer than the longest.
    """
    if shortest > longest:
        raise ValueError(f"shortest must be at most longest, got {shortest} and {longest}")
    marked = f"<{word}>"
    ends = range(shortest, longest + 1)
    return [
        marked[start : start + length]
        for start in range(len(marked))
        for length in ends
        if start + length <= len(marked)
    ]


@accepts(ngram=string)
def fnv_hash(ngram: str) -> int:
    """The 32-bit FNV-1a hash of an n-gram's bytes in UTF-8: an integer from 0 to 2³² − 1.

    Source: the program of Bojanowski et al. 2017, which reads a byte as a signed number. That
    differs from FNV-1a for bytes above 127, and so does this.
    """
    value = OFFSET
    for byte in ngram.encode():
        signed = byte - 256 if byte > 127 else byte
        value = ((value ^ (signed & BITS)) * PRIME) & BITS
    return value


class Subwords(nn.Module):
    """Look words up as `nn.Embedding` does; each is the mean of some rows of one table.

    The table holds a row for each of the most frequent words, and below them a row for each bucket.
    An n-gram belongs to the bucket that its hash names; n-grams that share a bucket share a vector.
    A word is the mean of its own row, if it has one, and of the rows of its n-grams.

    Source: Bojanowski et al. 2017, section 3.2, where every word has a row of its own, and the
    vector is the sum; their program takes the mean.

    Args:
        words: V words, by falling frequency.
        vector_size: width D.
        buckets: rows for n-grams.
        own: words that have a row of their own, the most frequent ones.
        shortest, longest: the lengths of the n-grams.
    """

    def __init__(
        self,
        words: Sequence[str],
        vector_size: int,
        *,
        buckets: int,
        own: int = 0,
        shortest: int = 3,
        longest: int = 5,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = len(words), vector_size
        self.buckets, self.own, self.lengths = buckets, min(own, len(words)), (shortest, longest)
        table = torch.empty(self.own + buckets, vector_size)
        self.weight = nn.Parameter(nn.init.uniform_(table, -0.5 / vector_size, 0.5 / vector_size))
        pieces = [self.rows_of(self.ngrams(word)) for word in words]
        pieces = [[n, *rows] if n < self.own else rows for n, rows in enumerate(pieces)]
        most = max(1, *map(len, pieces))
        rows = [one + [0] * (most - len(one)) for one in pieces]
        share = [[1 / len(one)] * len(one) + [0.0] * (most - len(one)) for one in pieces]
        # On the processor also where models are built blank; (V, n), padded with a share of 0
        self.register_buffer("rows", torch.tensor(rows, device="cpu"), persistent=False)
        self.register_buffer("share", torch.tensor(share, device="cpu"), persistent=False)

    def ngrams(self, word: str) -> list[str]:
        """The character n-grams of a word, in the lengths of this table."""
        return character_ngrams(word, *self.lengths)

    def rows_of(self, ngrams: Iterable[str]) -> list[int]:
        """Which row of the table each n-gram has."""
        return [self.own + fnv_hash(ngram) % self.buckets for ngram in ngrams]

    def forward(self, numbers: Tensor) -> Tensor:
        """The vectors (…, D) of word numbers (…)."""
        flat = numbers.reshape(-1)
        means = F.embedding_bag(
            self.rows[flat], self.weight, per_sample_weights=self.share[flat], mode="sum"
        )
        return means.view(*numbers.shape, -1)

    @torch.no_grad()
    def all_words(self) -> Tensor:
        """The vectors (V, D) of all words."""
        return self(torch.arange(self.num_embeddings, device=self.weight.device))


class SubwordRows:
    """The counterpart of `RowAdagrad` for a table of n-grams: look up, and take a step.

    Args:
        table: its rows are changed in place.
    """

    def __init__(self, table: Subwords):
        self.table, self.rows = table, RowAdagrad(table.weight.data)
        self.weight = table.weight.data

    @torch.no_grad()
    def look_up(self, words: Tensor) -> Tensor:
        """The vectors (…, D) of word numbers (…)."""
        return self.table(words)

    @torch.no_grad()
    def step(self, words: Tensor, gradient: Tensor, rate: float) -> None:
        """Add up the gradients (n, D) of words (n,), and pass each on to the word's rows.

        A word is a mean, so that each of its n rows gets 1 / n of its gradient.
        """
        distinct, place = torch.unique(words, return_inverse=True)
        total = gradient.new_zeros(len(distinct), gradient.shape[1])
        total.index_add_(0, place.view(-1), gradient)
        share = self.table.share[distinct]
        word, piece = share.nonzero(as_tuple=True)
        handed = total[word] * share[word, piece, None]
        self.rows.step(self.table.rows[distinct][word, piece], handed, rate)


class SubwordSkipGram(Word2Vec):
    """Skip-gram with negative sampling whose centre word is the mean of its subword rows.

    Source: Bojanowski et al. 2017, section 3. Trained by `train_negative_sampling`.

    Args:
        words: V words by token number; the special tokens among them have n-grams like any other.
        counts: (V,), how often each occurs.
        vector_size: width D.
        buckets, own, shortest, longest: as in `Subwords`.
        negatives: noise words K for each context word.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: Tensor,
        vector_size: int = 100,
        *,
        negatives: int = 5,
        **sizes,
    ):
        super().__init__(counts, vector_size, negatives=negatives)
        self.vectors = Subwords(words, vector_size, **sizes)

    def input_rows(self) -> SubwordRows:
        """The table that training reads and changes."""
        return SubwordRows(self.vectors)

    def word_vectors(self) -> Tensor:
        """The vectors (V, D) of all words."""
        return self.vectors.all_words()
