"""Chapter 11: batches of labelled examples for the downstream tasks of an encoder."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, listed
from gates2heads.accepts.values import distinct_seed
from gates2heads.book.ch11.pretraining import LONGEST, fact_tokenizer
from gates2heads.data.batches.joined import collate_joined, join
from gates2heads.data.corpora.fact_examples import (
    Labelled,
)
from gates2heads.data.tokens.bilingual import split_bilingual
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned

AT_ONCE, TUNED_AT_ONCE = 64, 32  # examples


@dataclass(frozen=True)
class UseBatch:
    """B examples; `states` if a frozen encoder has processed them already."""

    tokens: Tensor  # (B, L) long
    segments: Tensor  # (B, L) long, 0 or 1
    mask: Tensor  # (B, L) bool, True = a real token
    labels: Tensor  # (B, 1) classes, (B, L) classes of tokens, or (B, 2) positions of an answer
    states: Tensor | None = None  # (layers, B, L, D)

    def __len__(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device | str) -> "UseBatch":
        """The same batch on another device."""
        parts = (getattr(self, field.name) for field in fields(self))
        return UseBatch(*(part if part is None else part.to(device) for part in parts))


class UseReader(FineTuned):
    """A fine-tuned encoder of a `UseBatch`, with the states in the batch or with new ones."""

    @accepts(batch=instance(UseBatch))
    def forward(self, batch: UseBatch):
        """The output of the head for a batch."""
        if batch.states is not None:
            return self.read(batch.states, mask=batch.mask)
        return super().forward(batch.tokens, segments=batch.segments, mask=batch.mask)


@accepts(examples=listed("examples", kind=instance(Labelled), least=1))
def use_batch(examples: Sequence[Labelled]) -> UseBatch:
    """Join the texts of each example, and move its label to the new positions of the tokens."""
    read = fact_tokenizer().encode
    joined = [
        join(*(read(text, eos=False) for text in one[:2] if text is not None), max_length=LONGEST)
        for one in examples
    ]
    batch = collate_joined(joined)
    length = batch.tokens.shape[1]
    rows = [_moved(one, at.places, length) for one, at in zip(examples, joined, strict=True)]
    return UseBatch(batch.tokens, batch.segments, batch.mask, torch.tensor(rows))


def _moved(one: Labelled, places: tuple[range, ...], length: int) -> list[int]:
    """A label as the batch needs it: [CLS] is in front, and perhaps a first text."""
    if one.second is None and len(one.label) > 1:
        return [0, *one.label, *[0] * (length - 1 - len(one.label))]
    if len(one.label) == 2:
        return [0 if place < 0 else place + places[1].start for place in one.label]
    return list(one.label)


@accepts(one=instance(Labelled))
def fits(one: Labelled) -> bool:
    """Whether the encoder has room for the texts of an example and their markers.

    Args:
        one: an example.
    """
    texts = [text for text in one[:2] if text is not None]
    return sum(len(split_bilingual(text)) + 1 for text in texts) < LONGEST


def shuffled_batches(
    epochs: Iterator[list[Labelled]], encoder: BERT, *, frozen: bool, seed: int
) -> Iterator[UseBatch]:
    """Batches of examples of similar length, shuffled in each epoch."""
    draw = random.Random(distinct_seed(seed))
    known, batches = None, []
    for examples in epochs:
        if examples is not known:
            known, batches = examples, _batches(examples, draw, encoder, frozen)
        yield from draw.sample(batches, len(batches))


def _batches(
    examples: list[Labelled], draw: random.Random, encoder: BERT, frozen: bool
) -> list[UseBatch]:
    order = draw.sample(examples, len(examples))
    order.sort(key=lambda one: len(one.first) + len(one.second or ""))
    size = AT_ONCE if frozen else TUNED_AT_ONCE
    batches = [use_batch(order[at : at + size]) for at in range(0, len(order), size)]
    return [_read(batch, encoder) for batch in batches] if frozen else batches


@torch.no_grad()
def _read(batch: UseBatch, encoder: BERT) -> UseBatch:
    batch = batch.to(next(encoder.parameters()).device)  # in `fit`, that of the training
    states = encoder.states(batch.tokens, segments=batch.segments, mask=batch.mask)
    return replace(batch, states=states)
