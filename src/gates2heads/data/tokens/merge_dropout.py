"""BPE-dropout: training text in which one word falls into other pieces each time it comes."""

import random
from collections.abc import Mapping
from itertools import pairwise

from gates2heads.accepts import a, accepts, count, flag, seed, share, text
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.tokens.bpe import BPETokenizer

Pair = tuple[str, str]


def merge_with_dropout(
    pieces: list[str], ranks: Mapping[Pair, int], dropout: float, draw: random.Random
) -> list[str]:
    """Merge neighbours, the pair that was learnt first before the others, and leave some out.

    Source: Provilkov et al. 2020, Algorithm 1: at every step each possible merge is left out with
    probability p; the word is done when none remains. p = 0 is byte-pair encoding, p = 1 leaves
    the pieces as they are. Departs from the paper in that all places of the chosen pair are not
    merged together: each step merges one place, the first.

    Args:
        pieces: of one word, the bytes at first.
        ranks: which merge was learnt when; the lower goes first.
        dropout: p, the share of possible merges left out at each step.
        draw: where the chance comes from.
    """
    pieces = list(pieces)
    while True:
        possible = [
            (ranks[pair], place)
            for place, pair in enumerate(pairwise(pieces))
            if pair in ranks and (not dropout or draw.random() >= dropout)
        ]
        if not possible:
            return pieces
        _, place = min(possible)
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


@accepts(tokenizer=a(BPETokenizer), dropout=share, seed=seed, splits=count)
class MergeDropout:
    """Number the pieces of a text as a tokenizer does, with merges left out by chance.

    Source: Provilkov et al. 2020. It is for training only: what is translated later is split
    without. Departs from the paper in that a word is split anew only so many times; from then on
    each split is drawn again from those. 🤗 tokenizers leave out merges too, but cannot be seeded,
    and a training run must be repeatable.

    Args:
        tokenizer: whose merges are left out.
        dropout: the share p of possible merges left out at each step, in [0, 1].
        seed: the same seed and the same texts in the same order give the same splits.
        splits: how many splits of one word are drawn at most.
    """

    def __init__(
        self, tokenizer: BPETokenizer, dropout: float = 0.1, *, seed: int = 0, splits: int = 8
    ):
        self.tokenizer, self.dropout, self.splits = tokenizer, float(dropout), splits
        self._draw = random.Random(distinct_seed(seed))
        self._drawn: dict[str, list[list[int]]] = {}

    @accepts(text=text, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Number the pieces of a text; `<eos>` closes it unless `eos=False`.

        Raises:
            ValueError: `text` is empty.
        """
        numbers = [number for word in self.tokenizer.words(text) for number in self._split(word)]
        return [*numbers, self.tokenizer.eos] if eos else numbers

    def _split(self, word: str) -> list[int]:
        """One split of a word: a new one while there are few, then one of those."""
        drawn = self._drawn.setdefault(word, [])
        if len(drawn) == self.splits:
            return drawn[self._draw.randrange(self.splits)]
        pieces = merge_with_dropout(list(word), self.tokenizer.merges, self.dropout, self._draw)
        drawn.append([self.tokenizer.numbers[piece] for piece in pieces])
        return drawn[-1]
