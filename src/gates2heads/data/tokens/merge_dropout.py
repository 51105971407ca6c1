"""BPE-dropout: in training, a word is segmented differently at each occurrence."""

import random
from collections.abc import Mapping
from itertools import pairwise

from gates2heads.accepts import accepts, any_seed, flag, fraction, instance, natural, string
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.tokens.bpe import BPETokenizer

Pair = tuple[str, str]


def merge_with_dropout(
    pieces: list[str], ranks: Mapping[Pair, int], dropout: float, draw: random.Random
) -> list[str]:
    """Merge adjacent pieces in the learnt order, and leave out some merges at random.

    Source: Provilkov et al. 2020, Algorithm 1: at every step each possible merge is left out with
    probability p, until none remains. p = 0 is byte-pair encoding, p = 1 leaves the pieces
    unchanged. Departs from the paper in that each step merges only the first occurrence of the
    chosen pair.

    Args:
        pieces: of one word, the bytes at first.
        ranks: the rank of each merge; lower ranks go first.
        dropout: p, the probability of leaving out a possible merge.
        draw: the source of random numbers.
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


@accepts(tokenizer=instance(BPETokenizer), dropout=fraction, seed=any_seed, splits=natural)
class MergeDropout:
    """Encode a text as a tokenizer does, with merges left out at random.

    Source: Provilkov et al. 2020. It is for training only: at inference texts are split without
    dropout. Departs from the paper in that only a limited number of splits of each word is
    generated; further ones are sampled from these. 🤗 tokenizers leave out merges too, but cannot
    be seeded, and a training run must be repeatable.

    Args:
        tokenizer: whose merges are left out.
        dropout: the probability p of leaving out a possible merge, in [0, 1].
        seed: the same seed and the same texts in the same order give the same splits.
        splits: the maximum number of splits of one word.
    """

    def __init__(
        self, tokenizer: BPETokenizer, dropout: float = 0.1, *, seed: int = 0, splits: int = 8
    ):
        self.tokenizer, self.dropout, self.splits = tokenizer, float(dropout), splits
        self._draw = random.Random(distinct_seed(seed))
        self._drawn: dict[str, list[list[int]]] = {}

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text; `<eos>` is appended unless `eos=False`.

        Raises:
            ValueError: `text` is empty.
        """
        numbers = [number for word in self.tokenizer.words(text) for number in self._split(word)]
        return [*numbers, self.tokenizer.eos] if eos else numbers

    def _split(self, word: str) -> list[int]:
        """One split of a word: a new one until enough are stored, then one of those."""
        drawn = self._drawn.setdefault(word, [])
        if len(drawn) == self.splits:
            return drawn[self._draw.randrange(self.splits)]
        pieces = merge_with_dropout(list(word), self.tokenizer.merges, self.dropout, self._draw)
        drawn.append([self.tokenizer.numbers[piece] for piece in pieces])
        return drawn[-1]
