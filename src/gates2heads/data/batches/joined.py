"""Sentences, alone or in pairs, as BERT reads them: [CLS] first [SEP] second [SEP]."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import check_dense
from gates2heads.checks.values import check_count, distinct_seed
from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.spans import check_spans
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary


@dataclass(frozen=True)
class Markers:
    """The numbers with a meaning of their own, for any tokenizer whose special tokens stand first.

    `<bos>` serves as [CLS] and `<eos>` as [SEP], as in the code of Liu et al. 2019 (RoBERTa).
    [MASK] is one number behind the last. So the tokenizer stays as it is, and the same numbers
    serve every model.

    Args:
        words: how many tokens the tokenizer has, the special ones included.
        specials: how many of them, at the beginning, are special: 3, or 4 with `<unk>`.
    """

    words: int
    specials: int = 3
    pad: ClassVar[int] = Vocabulary.pad
    cls: ClassVar[int] = Vocabulary.bos
    sep: ClassVar[int] = Vocabulary.eos

    def __post_init__(self):
        check_count("specials", self.specials, least=3)
        check_count("words", self.words, least=self.specials + 1)

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Markers":
        """The special tokens of a vocabulary, `<unk>` among them where it has one.

        Raises:
            TypeError: it is no vocabulary.
        """
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"vocabulary must be a Vocabulary, got {shown(vocabulary)}")
        specials = vocabulary.unk + 1 if isinstance(vocabulary, WordVocabulary) else 3
        return cls(len(vocabulary), specials=specials)

    @property
    def mask(self) -> int:
        """The number of [MASK]."""
        return self.words

    @property
    def size(self) -> int:
        """V of a model that reads these numbers."""
        return self.words + 1

    def ordinary(self, tokens: Tensor) -> Tensor:
        """True where tokens (…) are neither padding nor another special token: (…) bool."""
        if not isinstance(tokens, Tensor) or tokens.dtype not in (torch.long, torch.int):
            raise TypeError(f"tokens must be a tensor of token numbers, got {shown(tokens)}")
        check_dense("tokens", tokens)
        return (tokens >= self.specials) & (tokens < self.words)


class Joined(NamedTuple):
    """One or two texts in one sequence, and where each of them went."""

    tokens: list[int]  # [CLS] first [SEP], or [CLS] first [SEP] second [SEP]
    segments: list[int]  # 0 up to the first [SEP], then 1
    places: tuple[range, ...]  # tokens[place.start : place.stop] is what is left of each text

    def place(self, spans: Sequence[tuple[int, int]], text: int) -> list[tuple[int, int]]:
        """Where spans (start, end) of text 0 or 1 stand now; those that were cut are left out.

        Raises:
            TypeError, ValueError: the spans are none, or there is no such text.
        """
        check_spans("spans", spans)
        check_count("text", text, least=0, most=len(self.places) - 1)
        place = self.places[text]
        moved = ((start + place.start, end + place.start) for start, end in spans)
        return [(start, end) for start, end in moved if end <= place.stop]


def join(
    first: Sequence[int], second: Sequence[int] | None = None, *, max_length: int | None = None
) -> Joined:
    """Put one or two texts between the markers.

    Source: Devlin et al. 2019, section 3 and figure 2. What does not fit is cut from the end of the
    longer text, as in its code.

    Args:
        first, second: token numbers, without `<bos>` and `<eos>`.
        max_length: at most so many tokens, the markers included; None cuts nothing.

    Raises:
        TypeError: a text is no list of whole numbers.
        ValueError: a text is empty, or nothing of it would be left.
    """
    texts = {"first": first} if second is None else {"first": first, "second": second}
    for name, text in texts.items():
        if isinstance(text, str) or not isinstance(text, Sequence):
            raise TypeError(f"{name} must be a list of token numbers, got {shown(text)}")
        if not len(text):
            raise ValueError(f"{name} is empty; it must hold at least one token")
        for number in text:
            check_count(f"each token of {name}", number, least=0)
    room = sum(map(len, texts.values()))
    if max_length is not None:
        check_count("max_length", max_length, least=1 + 2 * len(texts))
        room = min(room, max_length - 1 - len(texts))
    lengths = _fit([len(text) for text in texts.values()], room)
    tokens, segments, places = [Markers.cls], [0], []
    for number, (text, length) in enumerate(zip(texts.values(), lengths, strict=True)):
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


def collate_joined(examples: Sequence[Joined]) -> JoinedBatch:
    """Make one batch of what `join` made.

    Raises:
        TypeError, ValueError: an example was not made by `join`, or there is none.
    """
    if not isinstance(examples, Sequence) or not all(isinstance(one, Joined) for one in examples):
        raise TypeError(f"examples must be a list of what `join` made, got {shown(examples)}")
    if not examples:
        raise ValueError("examples is empty; a batch needs at least one example")
    tokens, mask = pad([example.tokens for example in examples])
    segments, _ = pad([example.segments for example in examples], pad_id=0)
    return JoinedBatch(tokens, segments, mask)


def next_sentence_pairs(documents: Sequence[Sequence], *, seed: int) -> list[tuple]:
    """Pair each sentence with its successor, or as often with a sentence from another document.

    Source: Devlin et al. 2019, section 3.1, task 2. Departs from it in pairing single sentences
    instead of longer runs of text.

    Args:
        documents: sentences in reading order, each a text or its token numbers; at least two
            documents. Documents of one sentence give no pair, but may be drawn from.
        seed: draws the other sentences; another seed a round gives other pairs.

    Returns:
        (first, second, follows) for every two neighbours; follows is True for the real successor.

    Raises:
        TypeError, ValueError: documents is no list of lists, an empty one is among them, or fewer
            than two.
    """
    check_count("seed", seed, least=0)
    nested = isinstance(documents, Sequence) and not isinstance(documents, str)
    if not nested or not all(
        isinstance(document, Sequence) and not isinstance(document, str) for document in documents
    ):
        raise TypeError(f"documents must be lists of sentences in a list, got {shown(documents)}")
    if len(documents) < 2 or not all(map(len, documents)):
        raise ValueError(
            "documents must hold two or more documents with sentences, got lengths "
            f"{list(map(len, documents))!s:.60}"
        )
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
