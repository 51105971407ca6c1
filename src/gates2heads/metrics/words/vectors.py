"""Evaluation of word vectors: neighbours, analogies, and correlation with human judgements."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, anything, flag, floats, natural, number, strings
from gates2heads.accepts.shown import shown


class Agreement(NamedTuple):
    """A result, and how many of the questions the vocabulary covers."""

    value: float
    used: int  # questions whose words all have a vector
    total: int


@accepts(words=strings, vectors=floats("V D", empty=False))
class WordVectors:
    """Words with their vectors, compared by the cosine of the angle between them.

    Args:
        words: V distinct words.
        vectors: (V, D) float; row i belongs to words[i].

    Raises:
        TypeError, ValueError: sizes differ, a word occurs twice, or a number is not finite.
    """

    def __init__(self, words: Sequence[str], vectors: Tensor):
        words = list(words)
        if len(vectors) != len(words):
            raise ValueError(
                f"vectors must have shape ({len(words)}, D), one row per word, got "
                f"{tuple(vectors.shape)}"
            )
        if not vectors.isfinite().all():
            raise ValueError("vectors must be finite")
        self.words = words
        self.index = {word: number for number, word in enumerate(self.words)}
        if len(self.index) < len(self.words):
            raise ValueError("words must be distinct")
        # In half precision a zero vector would become NaN, and a long one zero.
        precise = vectors.detach().to(torch.promote_types(vectors.dtype, torch.float32))
        self.unit = F.normalize(precise, dim=1)  # a zero vector remains zero

    def __repr__(self) -> str:
        return f"WordVectors({len(self.words)} words, width {self.unit.shape[1]})"

    def __contains__(self, word: str) -> bool:
        return word in self.index

    def unit_vector(self, word: str) -> Tensor:
        """(D,): the vector of a word, scaled to length 1.

        Raises:
            ValueError: the word has no vector.
        """
        self._check_known(word=word)
        return self.unit[self.index[word]]

    def _check_known(self, **words: str) -> None:
        """Reject an argument that is not among the words."""
        for name, word in words.items():
            if not isinstance(word, str) or word not in self.index:
                count = len(self.words)
                raise ValueError(f"{name} must be one of the {count} known, got {shown(word)}")

    def similarity(self, first: str, second: str) -> float:
        """The cosine between two words, −1 to 1."""
        self._check_known(first=first, second=second)
        return float(self.unit_vector(first) @ self.unit_vector(second))

    @accepts(count=natural)
    def nearest(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words with the largest cosine to a word, itself left out, best first."""
        return self._best(self.unit_vector(word), count, without=(word,))

    @accepts(count=natural, exclude=flag)
    def towards(
        self, a: str, b: str, count: int = 10, *, exclude: bool = True
    ) -> list[tuple[str, float]]:
        """The words nearest to b − a, the difference of b from a, best first.

        Args:
            a, b: two words.
            count: how many words.
            exclude: leave out the two themselves.
        """
        self._check_known(a=a, b=b)
        query = self.unit_vector(b) - self.unit_vector(a)
        return self._best(query, count, without=(a, b) if exclude else ())

    @accepts(count=natural, exclude=flag)
    def analogy(
        self, a: str, b: str, c: str, count: int = 1, *, exclude: bool = True
    ) -> list[tuple[str, float]]:
        """Answer "a is to b as c is to ?" with the words nearest to b − a + c, best first.

        Source: Mikolov et al. 2013, "Linguistic Regularities", section 3; named 3CosAdd by Levy and
        Goldberg 2014, equation 3.

        Args:
            a, b, c: three words.
            count: how many answers.
            exclude: leave out the three themselves, as in the sources.
        """
        self._check_known(a=a, b=b, c=c)
        query = self.unit_vector(b) - self.unit_vector(a) + self.unit_vector(c)
        return self._best(query, count, without=(a, b, c) if exclude else ())

    @accepts(exclude=flag)
    def analogy_accuracy(
        self, questions: Sequence[Sequence[str]], *, exclude: bool = True
    ) -> Agreement:
        """The accuracy of `analogy` on questions (a, b, c, d, …); words may be missing.

        Args:
            questions: rows of four words, and possibly more.
            exclude: as for `analogy`.

        Raises:
            TypeError: a question does not begin with four words.
        """
        _check_rows("questions", questions, words=4)
        known = [row[:4] for row in questions if all(word in self for word in row[:4])]
        # With the three words left out, a small vocabulary may contain no answer.
        answers = [(self.analogy(a, b, c, exclude=exclude), d) for a, b, c, d in known]
        right = sum(found[0][0] == d for found, d in answers if found)
        return Agreement(right / len(known) if known else float("nan"), len(known), len(questions))

    def agreement(self, pairs: Sequence[tuple[str, str, float]]) -> Agreement:
        """Spearman's correlation between the cosines and people's scores of word pairs.

        Raises:
            TypeError, ValueError: a pair is not (word, word, finite number).
        """
        _check_rows("pairs", pairs, words=2)
        for row in pairs:
            number.check("the score in each of the pairs", row[-1])
        known = [row for row in pairs if row[0] in self and row[1] in self]
        ours = torch.tensor([self.similarity(first, second) for first, second, _ in known])
        theirs = torch.tensor([float(score) for *_, score in known])
        value = rank_correlation(ours, theirs) if len(known) > 1 else float("nan")
        return Agreement(value, len(known), len(pairs))

    def _best(self, query: Tensor, count: int, *, without: Sequence[str]) -> list:
        cosines = self.unit @ F.normalize(query, dim=0)  # (V,)
        left_out = {self.index[word] for word in without if word in self.index}
        cosines[list(left_out)] = -torch.inf
        best = cosines.topk(min(count, len(self.words) - len(left_out)))
        found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [(self.words[number], value) for number, value in found]


def _check_rows(name: str, rows: Sequence[Sequence], *, words: int) -> None:
    """Reject anything but a list of rows that begin with so many words."""
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise TypeError(f"{name} must be a list, got {shown(rows)}")
    for row in rows:
        row_fits = isinstance(row, Sequence) and len(row) >= max(words, 3)
        if not row_fits or not all(isinstance(word, str) for word in row[:words]):
            raise TypeError(
                f"{name} must hold rows that begin with {words} words, got {shown(row)}"
            )


def ranks(values: Tensor) -> Tensor:
    """The rank of each value (N,), from 1; equal values share their mean rank."""
    _, place, times = values.unique(return_inverse=True, return_counts=True)
    last = times.cumsum(0).double()  # the last rank of each distinct value
    return (last - (times - 1) / 2)[place]


@accepts(first=anything("N"), second=anything("N"))
def rank_correlation(first: Tensor, second: Tensor) -> float:
    """Spearman's ρ: the correlation of the ranks of two (N,) tensors, −1 to 1.

    Source: Spearman 1904, with mean ranks for ties. NaN if one side is constant.

    Raises:
        ValueError: the tensors hold fewer than two numbers, or NaN, which has no rank.
    """
    if len(first) < 2:
        raise ValueError(f"first and second must hold at least two numbers, got {len(first)}")
    for name, side in (("first", first), ("second", second)):
        if side.isnan().any():
            raise ValueError(f"{name} must hold numbers, got NaN, which has no rank")
    x, y = (ranks(side) - ranks(side).mean() for side in (first, second))
    return float((x @ y) / (x.norm() * y.norm())) if x.norm() * y.norm() > 0 else float("nan")
