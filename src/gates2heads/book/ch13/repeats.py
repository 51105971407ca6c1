"""Chapter 13: sequences of words with repeated passages."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import (
    accepts,
    any_seed,
    choice,
    natural,
    tokens,
)
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary

_WORDS = """
Anna Ben Clara David Emma Felix Greta Hugo Iris Jonas apple arrow bank bear
bell bird boat book bread bridge candle castle chair cheese city clock cloud
corn desk door dragon eagle engine farm fire fish flower forest garden glass
gold guitar hammer hat hill horse house ice island jacket key king knife lake
lamp leaf lemon letter lion map milk mirror moon mouse nail ocean orange paper
park piano queen rain ring river road rocket rose salt school ship silver snow
sofa star stone sugar table tiger tower train tree valley violin water wheel
window wolf wood zebra green
"""
WORDS = tuple(_WORDS.split())
FIRST_WORD = len(WordVocabulary({"a": 1})) - 1  # its number; the special tokens come before
LENGTH = 64  # words of a sequence, and tokens that a model reads at most
SHORTEST, LONGEST = 6, 24  # words of a repeated passage
HELD_OUT = range(12, 20)  # offsets that do not occur in training
SUCCESSORS = (0.25, 0.15, 0.1, 0.05)  # probabilities; otherwise any word follows
KINDS = ("chain", "random")  # of words: from the Markov chain, or all different
OFFSETS = ("trained", "held")
TIMES = 3  # passages that are repeated in a sequence of the training data
TESTED = 512  # sequences


@cache
def word_tokenizer() -> BilingualTokenizer:
    """The 100 words as tokens, in the order of `WORDS` after the special tokens."""
    size = len(WORDS)
    return BilingualTokenizer(WordVocabulary({w: size - n for n, w in enumerate(WORDS)}))


@cache
def successors() -> Tensor:
    """The fixed Markov chain: the probable successors (W, 4) of W words, most probable first.

    Every column is a permutation of the words, so that in the long run all are equally frequent.
    """
    draw = torch.Generator().manual_seed(13)
    return torch.stack([torch.randperm(len(WORDS), generator=draw) for _ in SUCCESSORS], dim=1)


class Repeats(NamedTuple):
    """B sequences, in each of which one passage occurs twice; positions count from `<bos>` = 0."""

    tokens: Tensor  # (B, T + 1) long, `<bos>` first
    begin: Tensor  # (B,) long, the position at which the repeat begins
    length: Tensor  # (B,) long, tokens of the repeat
    offset: Tensor  # (B,) long, how many positions earlier the passage occurred first

    @property
    def queries(self) -> Tensor:
        """Which positions (B, T) predict a token of the repeat, of which the first is excluded."""
        positions = torch.arange(self.tokens.shape[1] - 1, device=self.tokens.device)
        begin, last = self.begin[:, None], (self.begin + self.length - 1)[:, None]
        return (begin <= positions) & (positions < last)

    def to(self, device: torch.device) -> "Repeats":
        """The same sequences on another device."""
        return Repeats(*(tensor.to(device) for tensor in self))


@accepts(
    batch=natural,
    kind=choice(KINDS),
    offsets=choice(OFFSETS),
    times=natural(least=0),
    seed=any_seed,
)
def repeats(
    batch: int, *, kind: str = "chain", offsets: str = "trained", times: int = 1, seed: int
) -> Iterator[Repeats]:
    """Yield random sequences of 64 words indefinitely; passages are repeated at random offsets.

    Args:
        batch: sequences at a time.
        kind: "chain" samples the words from the Markov chain; "random" takes 64 different words, so
            that no word but those of the repeat occurs twice.
        offsets: "trained" for 6 to 11 and 20 to 58 positions, "held" for 12 to 19.
        times: how many passages are repeated, one after the other, so that the last is complete.
        seed: of the samples.
    """
    draw, at = torch.Generator().manual_seed(seed), torch.arange(LENGTH)
    places, weights = _places(offsets)
    bos = torch.full((batch, 1), Vocabulary.bos)
    begin = length = offset = torch.zeros(batch, dtype=torch.long)
    while True:
        words = (_chain if kind == "chain" else _different)(batch, draw)
        for _ in range(times):
            rows = torch.multinomial(weights, batch, replacement=True, generator=draw)
            start, offset, length = places[rows].T
            begin = start + offset
            again = (begin[:, None] <= at) & (at < (begin + length)[:, None])
            words = words.gather(1, at - again * offset[:, None])
        tokens = torch.cat([bos, FIRST_WORD + words], dim=1)
        yield Repeats(tokens, begin + 1, length, offset)


@cache
def _places(offsets: str) -> tuple[Tensor, Tensor]:
    """Every (start, offset, length) that a repeat may have, (N, 3); all lengths equally often."""
    places = torch.tensor(
        [
            (start, offset, length)
            for length in range(SHORTEST, LONGEST + 1)
            for offset in range(length, LENGTH - length + 1)
            if (offset in HELD_OUT) == (offsets == "held")
            for start in range(LENGTH - offset - length + 1)
        ]
    )
    lengths = places[:, 2]
    return places, 1 / lengths.bincount()[lengths].double()


def _chain(batch: int, draw: torch.Generator) -> Tensor:
    """Words (B, 64) of the Markov chain."""
    following, choices = successors(), len(SUCCESSORS)
    weights = torch.tensor([*SUCCESSORS, 1 - sum(SUCCESSORS)])
    which = torch.multinomial(weights, batch * LENGTH, replacement=True, generator=draw)
    which = which.view(LENGTH, batch)
    anywhere = torch.randint(len(WORDS), (LENGTH, batch), generator=draw)
    words = [anywhere[0]]
    for number, other in zip(which[1:], anywhere[1:], strict=True):
        found = following[words[-1], number.clamp_max(choices - 1)]
        words.append(torch.where(number < choices, found, other))
    return torch.stack(words, dim=1)


def _different(batch: int, draw: torch.Generator) -> Tensor:
    """Words (B, 64), each sequence without any word twice."""
    return torch.rand(batch, len(WORDS), generator=draw).argsort(dim=1)[:, :LENGTH]


@accepts(
    size=natural, length=natural, vocabulary_size=natural(least=Vocabulary.eos + 2), seed=any_seed
)
def random_twice(size: int, length: int, vocabulary_size: int, *, seed: int) -> Repeats:
    """Sample sequences that are `length` different random tokens twice, for any language model.

    Args:
        size: B sequences.
        length: tokens of the passage.
        vocabulary_size: of the model; special tokens are left out.
        seed: of the samples.
    """
    draw = torch.Generator().manual_seed(seed)
    known = vocabulary_size - Vocabulary.eos - 1
    if known < length:
        raise ValueError(f"length must be at most {known}, the tokens that are left, got {length}")
    passage = torch.rand(size, known, generator=draw).argsort(dim=1)[:, :length]
    return twice(passage + Vocabulary.eos + 1)


@accepts(passage=tokens("B L"))
def twice(passage: Tensor) -> Repeats:
    """Write each passage (B, L) twice after `<bos>`."""
    (size, length), bos = passage.shape, passage.new_full((len(passage), 1), Vocabulary.bos)
    whole = torch.full((size,), length)
    return Repeats(torch.cat([bos, passage, passage], dim=1), whole + 1, whole, whole)


@accepts(kind=choice(KINDS), offsets=choice(OFFSETS), size=natural, seed=any_seed)
@cache
def held_out(kind: str, offsets: str = "trained", *, size: int = TESTED, seed: int = 0) -> Repeats:
    """Sequences for tests, which differ from those of training; see `repeats`."""
    return next(repeats(size, kind=kind, offsets=offsets, seed=10_000_000 + seed))
