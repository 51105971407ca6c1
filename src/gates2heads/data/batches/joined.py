"""Single sentences or pairs in BERT's input format: [CLS] first [SEP] second [SEP]."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, instance, listed, natural, whole
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary

TOKENS = listed("token numbers", kind=natural(least=0), least=1)


@accepts(words=natural, specials=natural(least=3))
@dataclass(frozen=True)
class Markers:
    """The special tokens, for any tokenizer whose special tokens come first.

    `<bos>` serves as [CLS] and `<eos>` as [SEP], as in the code of Liu et al. 2019 (RoBERTa).
    [MASK] is the number after the last. So the tokenizer is unchanged, and the same numbers serve
    every model.

    Args:
        words: the tokenizer's number of tokens, including the special ones.
        specials: the number of special tokens, at the beginning: 3, or 4 with `<unk>`.
    """

    words: int
    specials: int = 3
    pad: ClassVar[int] = Vocabulary.pad
    cls: ClassVar[int] = Vocabulary.bos
    sep: ClassVar[int] = Vocabulary.eos

    def __post_init__(self):
        if self.words <= self.specials:
            raise ValueError(f"words must be at least {self.specials + 1}, got {self.words}")

    @classmethod
    @accepts(vocabulary=instance(Vocabulary))
    def of(cls, vocabulary: Vocabulary) -> "Markers":
        """The special tokens of a vocabulary, `<unk>` among them where it has one."""
        specials = vocabulary.unk + 1 if isinstance(vocabulary, WordVocabulary) else 3
        return cls(len(vocabulary), specials=specials)

    @property
    def mask(self) -> int:
        """The number of [MASK]."""
        return self.words

    @property
    def size(self) -> int:
        """V of a model with these input tokens."""
        return self.words + 1

    @accepts(tokens=whole())
    def ordinary(self, tokens: Tensor) -> Tensor:
        """True where tokens (…) are neither padding nor another special token: (…) bool."""
        return (tokens >= self.specials) & (tokens < self.words)


class Joined(NamedTuple):
    """One or two texts in one sequence, and their positions in it."""

    tokens: list[int]  # [CLS] first [SEP], or [CLS] first [SEP] second [SEP]
    segments: list[int]  # 0 up to the first [SEP], then 1
    places: tuple[range, ...]  # the indices in `tokens` of what remains of each text

    def place(self, spans: Sequence[tuple[int, int]], text: int) -> list[tuple[int, int]]:
        """The positions of spans (start, end) of text 0 or 1; truncated spans are left out."""
        place = self.places[text]
        moved = ((start + place.start, end + place.start) for start, end in spans)
        return [(start, end) for start, end in moved if end <= place.stop]


@accepts(first=TOKENS, second=TOKENS, max_length=natural)
def join(
    first: Sequence[int], second: Sequence[int] | None = None, *, max_length: int | None = None
) -> Joined:
    """Join one or two texts with the special tokens.

    Source: Devlin et al. 2019, section 3 and figure 2. Excess tokens are cut from the end of the
    longer text, as in its code.

    Args:
        first, second: token numbers, without `<bos>` and `<eos>`.
        max_length: the maximum number of tokens, including special ones; None for no limit.

    Raises:
        ValueError: a text would be empty.
    """
    texts = (first,) if second is None else (first, second)
    room = sum(map(len, texts))
    if max_length is not None:
        least = 1 + 2 * len(texts)
        if max_length < least:
            raise ValueError(f"max_length must be at least {least}, got {max_length}")
        room = min(room, max_length - 1 - len(texts))
    lengths = _fit([len(text) for text in texts], room)
    tokens, segments, places = [Markers.cls], [0], []
    for number, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        places.append(range(len(tokens), len(tokens) + length))
        tokens += [*text[:length], Markers.sep]
        segments += [number] * (length + 1)
    return Joined(tokens, segments, tuple(places))


def _fit(lengths: list[int], room: int) -> list[int]:
    """Shorten the longer text, token by token, until both fit."""
    while sum(lengths) > room:
        longer = -1 if lengths[-1] >= lengths[0] else 0
        lengths[longer] -= 1
    return lengths


@dataclass(frozen=True)
class JoinedBatch:
    """B joined sequences, padded to the longest."""

    tokens: Tensor  # (B, L) long
    segments: Tensor  # (B, L) long, 0 or 1
    mask: Tensor  # (B, L) bool, True = a real token

    def __len__(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device | str) -> "JoinedBatch":
        """The same batch on another device."""
        return JoinedBatch(*(getattr(self, field.name).to(device) for field in fields(self)))


@accepts(examples=listed("what `join` made", kind=instance(Joined), least=1))
def collate_joined(examples: Sequence[Joined]) -> JoinedBatch:
    """Make one batch of results of `join`."""
    tokens, mask = pad([example.tokens for example in examples])
    segments, _ = pad([example.segments for example in examples], pad_id=0)
    return JoinedBatch(tokens, segments, mask)


@accepts(documents=listed("documents", kind=listed("sentences", least=1), least=2), seed=any_seed)
def next_sentence_pairs(documents: Sequence[Sequence], *, seed: int) -> list[tuple]:
    """Pair each sentence with its successor, or equally often with one from another document.

    Source: Devlin et al. 2019, section 3.1, task 2. Departs from it in pairing single sentences
    instead of longer passages.

    Args:
        documents: sentences in reading order, each a text or its token numbers; at least two
            documents. Documents of one sentence give no pair, but may be sampled from.
        seed: for sampling; another seed for each epoch gives other pairs.

    Returns:
        (first, second, follows) for every two neighbours; follows is True for the real successor.
    """
    draw, pairs = random.Random(distinct_seed(seed)), []
    for number, document in enumerate(documents):
        for first, second in pairwise(document):
            if follows := draw.random() < 0.5:
                pairs.append((first, second, follows))
                continue
            other = draw.randrange(len(documents) - 1)
            other += other >= number  # any document but this one
            pairs.append((first, draw.choice(documents[other]), follows))
    return pairs
