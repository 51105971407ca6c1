"""chrF: an F-score over character n-grams. It needs no tokenizer and rewards partial matches.

With `word_order=2` it counts words and pairs of words as well and is called chrF++. As in BLEU,
counts are added over the test set first and divided once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gates2heads.accepts import accepts, flag, natural, positive
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, read_counts
from gates2heads.metrics.sentences import read_pair, read_pairs

__all__ = ["Chrf", "ChrfScore", "corpus_chrf", "sentence_chrf"]

ENDLESS = 1e100  # a β from which on only recall counts; its square is still finite
_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class ChrfScore:
    """A chrF score and its components.

    Attributes:
        score: chrF, 0 to 100.
        precision, recall: mean over the orders, 0 to 100.
        signature: the settings of the score, in sacreBLEU's format.
    """

    score: float
    precision: float
    recall: float
    signature: str = ""


def _split_words(text: str) -> list[str]:
    """Split at white space, and split off one punctuation mark at a word's end, or else start.

    Source: chrF++.py (Popović 2017), as sacreBLEU. One mark only: `(hi)` gives `(hi` and `)`.
    """
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _MARKS:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _MARKS:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


@accepts(
    char_order=natural(most=100),
    word_order=natural(least=0, most=100),
    beta=positive,
    lowercase=flag,
    whitespace=flag,
)
@dataclass(frozen=True)
class Chrf:
    """chrF with its settings.

    Source: Popović 2015 and 2017; conventions of sacreBLEU: precision and recall are averaged over
    the orders that both texts are long enough for, and of several references the one with the
    highest score counts.

    Args:
        char_order: the longest character n-gram.
        word_order: the longest word n-gram; 0 gives chrF, 2 gives chrF++.
        beta: recall has beta times the weight of precision.
        lowercase: compare in lower case.
        whitespace: keep white space as a character.
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2
    lowercase: bool = False
    whitespace: bool = False

    def statistics(self, hypotheses: Sequence[str], references) -> np.ndarray:
        """Count each sentence separately: chrF's statistics, which are additive.

        Args:
            hypotheses: N strings.
            references: N lists of strings; a lone string is one reference.
        Returns:
            (N, 3 orders) int: n-grams of the hypothesis, of its best reference, and clipped
            matches, for each character order and then each word order.
        Raises:
            TypeError, ValueError: see `read_pairs`; chrF takes strings only.
        """
        return self._count(read_pairs(hypotheses, references))

    def _count(self, pairs) -> np.ndarray:
        if not isinstance(pairs[0][0], str):
            raise TypeError(
                "each hypothesis must be a string, of which chrF counts the characters, got tokens"
            )
        rows = []
        for hypothesis, references in pairs:
            candidates = [self._compare(hypothesis, reference) for reference in references]
            rows.append(max(candidates, key=lambda row: self._averages(row)[0]))
        return np.array(rows, dtype=np.int64)

    def _compare(self, hypothesis: str, reference: str) -> list[int]:
        """Return hypothesis count, reference count and clipped matches, order after order."""
        row = []
        units = zip(self._units(hypothesis), self._units(reference), strict=True)
        for (tokens, order), (reference_tokens, _) in units:
            ceiling = count_ngrams(reference_tokens, order)
            # An order that the reference is too short for does not count for the hypothesis either.
            own_total = max(len(tokens) - order + 1, 0) if ceiling else 0
            row += [own_total, ceiling.total(), clipped_matches(tokens, order, ceiling)]
        return row

    def _units(self, text: str) -> list[tuple[Sequence[str], int]]:
        """What to count: the characters with each order, then the words with each order."""
        text = text.lower() if self.lowercase else text
        characters = text if self.whitespace else "".join(text.split())
        words = _split_words(text) if self.word_order else []
        return [(characters, order) for order in range(1, self.char_order + 1)] + [
            (words, order) for order in range(1, self.word_order + 1)
        ]

    def _averages(self, total) -> tuple[float, float, float]:
        """Return the F-score, and mean precision and recall over the orders, all from 0 to 1."""
        counts = [total[i : i + 3] for i in range(0, len(total), 3)]
        usable = [(hyp, ref, match) for hyp, ref, match in counts if hyp > 0 and ref > 0]
        if not usable:
            return 0.0, 0.0, 0.0
        precision = sum(match / hyp for hyp, _, match in usable) / len(usable)
        recall = sum(match / ref for _, ref, match in usable) / len(usable)
        if precision + recall == 0:
            return 0.0, 0.0, 0.0
        square = min(self.beta, ENDLESS) ** 2
        f_score = (1 + square) * precision * recall / (square * precision + recall)
        return f_score, precision, recall

    def from_statistics(self, total, *, signature: str = "") -> ChrfScore:
        """Turn counts, added over any set of sentences, into the score.

        Args:
            total: (3 orders,) the columns of `statistics`, summed.
            signature: carried into the result.
        Raises:
            ValueError: the number of counts is wrong, one is negative or NaN, or there are more
                matches than n-grams.
        """
        counts = read_counts(total, 3 * (self.char_order + self.word_order))
        for hypothesis, reference, matches in zip(*[iter(counts)] * 3, strict=True):
            if matches > min(hypothesis, reference):
                raise ValueError(
                    "total must hold no more matches than n-grams, got "
                    f"{matches} matches of {hypothesis} and {reference}"
                )
        f_score, precision, recall = self._averages(counts)
        return ChrfScore(100 * f_score, 100 * precision, 100 * recall, signature)

    def corpus(self, hypotheses: Sequence[str], references) -> ChrfScore:
        """Score a test set: counts are added over all sentences, then divided once."""
        return self._score(read_pairs(hypotheses, references))

    def sentence(self, hypothesis: str, references) -> ChrfScore:
        """Score one hypothesis against its references."""
        return self._score([read_pair(hypothesis, references)])

    def _score(self, pairs) -> ChrfScore:
        total = self._count(pairs).sum(axis=0)
        numbers = {len(references) for _, references in pairs}
        parts = {
            "nrefs": numbers.pop() if len(numbers) == 1 else "var",
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "yes" if self.whitespace else "no",
            "beta": self.beta,
        }
        signature = "|".join(f"{name}:{part}" for name, part in parts.items())
        return self.from_statistics(total, signature=signature + "|version:gates2heads")


def corpus_chrf(hypotheses: Sequence[str], references, **settings) -> ChrfScore:
    """Return the chrF of a test set. Arguments: see `Chrf.statistics`; settings: see `Chrf`."""
    return Chrf(**settings).corpus(hypotheses, references)


def sentence_chrf(hypothesis: str, references, **settings) -> ChrfScore:
    """Return the chrF of one sentence. Settings: see `Chrf`."""
    return Chrf(**settings).sentence(hypothesis, references)
