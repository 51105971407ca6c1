"""A pre-trained encoder and a small head: four uses, learned from facts in seconds."""

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import count as counted
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, choice, flag, instance, listed, maybe, natural
from gates2heads.accepts.values import distinct_seed
from gates2heads.book.ch11.pretraining import LONGEST, check_size, fact_tokenizer
from gates2heads.data.batches.joined import collate_joined, join
from gates2heads.data.corpora.fact_examples import (
    INFERENCE,
    SLOTS,
    TRUTH,
    Labelled,
    answer_examples,
    inference_examples,
    passage_examples,
    shuffled_facts,
    slot_examples,
    truth_examples,
)
from gates2heads.data.corpora.wordings import STRANGERS, wordings
from gates2heads.data.tokens.bilingual import split_bilingual
from gates2heads.models.pretraining.answers import AnswerHead, AnswerLogits, best_answers
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy
from gates2heads.training.pretraining_losses import answer_loss, label_loss
from gates2heads.training.schedules import warmup_cosine

AT_ONCE, TUNED_AT_ONCE = 64, 32  # examples
LONGEST_ANSWER = 16  # tokens
STEPS, FROZEN_RATE, RATE, WARMUP = 200, 1e-2, 1e-3, 20


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


class Use(NamedTuple):
    """A downstream task of an encoder."""

    examples: Callable[..., list[Labelled]]  # of "train" or "test", and perhaps of a seed
    head: Callable[[int], nn.Module]  # from the encoder's width
    loss: Callable[[nn.Module, UseBatch], Tensor]
    right: Callable[[nn.Module, UseBatch], Tensor]  # (B,) bool


def _facts(split: str, seen: bool = False) -> list:
    """Facts to train on, and others to test: of unseen wordings, or of unseen territories."""
    return wordings(split if seen or split == "train" else STRANGERS)


def _class_loss(reader: nn.Module, batch: UseBatch) -> Tensor:
    return label_loss(reader(batch), batch.labels[:, 0])


def _class_right(reader: nn.Module, batch: UseBatch) -> Tensor:
    return reader(batch).argmax(dim=-1) == batch.labels[:, 0]


def _slot_loss(reader: nn.Module, batch: UseBatch) -> Tensor:
    return cross_entropy(reader(batch), batch.labels, mask=batch.mask)


def _slot_right(reader: nn.Module, batch: UseBatch) -> Tensor:
    same = reader(batch).argmax(dim=-1) == batch.labels
    return (same | ~batch.mask).all(dim=1)


def _allowed(batch: UseBatch) -> Tensor:
    """An answer is in the second text; "no answer" is at [CLS]."""
    allowed = batch.mask & (batch.segments == 1)
    allowed[:, 0] = True
    return allowed


def _answer_loss(reader: nn.Module, batch: UseBatch) -> Tensor:
    return answer_loss(reader(batch), *batch.labels.unbind(1), allowed=_allowed(batch))


def _answer_right(reader: nn.Module, batch: UseBatch) -> Tensor:
    best = best_answers(reader(batch), allowed=_allowed(batch), max_length=LONGEST_ANSWER, null=0)
    places = torch.stack([best.first, best.last], dim=1).clamp(min=0)
    return (places == batch.labels).all(dim=1)


kept = lru_cache(maxsize=4)
USES: dict[str, Use] = {
    "classification": Use(
        kept(lambda split, seed=0: truth_examples(_facts(split, seen=True), seed=seed)),
        lambda width: SentenceHead(width, len(TRUTH)),
        _class_loss,
        _class_right,
    ),
    "slots": Use(
        kept(lambda split, seed=0: slot_examples(_facts(split))),  # with nothing to draw
        lambda width: TokenHead(width, len(SLOTS)),
        _slot_loss,
        _slot_right,
    ),
    "inference": Use(
        kept(lambda split, seed=0: inference_examples(_facts(split), seed=seed)),
        lambda width: SentenceHead(width, len(INFERENCE)),
        _class_loss,
        _class_right,
    ),
    "answers": Use(
        kept(lambda split, seed=0: answer_examples(_facts(split), seed=seed)),
        AnswerHead,
        _answer_loss,
        _answer_right,
    ),
}
# Answers again, from passages of which the kinds of sentences do not tell whether there is one;
# either the facts are true, or they are shuffled in training, so that nothing can be remembered.
TRUE_PASSAGES, PASSAGES = "true passages", "passages"


def _shuffled_passages(split: str, seed: int = 0) -> list[Labelled]:
    facts = _facts(split)
    if split == "train":
        facts = shuffled_facts(facts, seed=seed)
    return passage_examples(facts, seed=seed)


MORE = {
    TRUE_PASSAGES: USES["answers"]._replace(
        examples=kept(lambda split, seed=0: passage_examples(_facts(split), seed=seed))
    ),
    PASSAGES: USES["answers"]._replace(examples=kept(_shuffled_passages)),
}


def _use(name: str) -> Use:
    return MORE[name] if name in MORE else USES[name]


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


class Learned(NamedTuple):
    """An encoder with the head of one task, and which test examples it answers correctly."""

    reader: UseReader
    examples: list[Labelled]
    right: list[bool]  # one an example
    shares: list[float]  # of each layer in the mix, the embeddings first


@accepts(
    name=choice([*USES, *MORE]),
    encoder=instance(BERT),
    frozen=flag,
    steps=natural(least=2),
    labels=maybe(natural(least=1)),
    redraw=flag,
    seed=any_seed,
)
def learn_use(
    name: str,
    encoder: BERT,
    *,
    frozen: bool = True,
    steps: int = STEPS,
    labels: int | None = None,
    redraw: bool = False,
    seed: int = 0,
) -> Learned:
    """Train a head for one of `USES` or of `MORE`, and evaluate it.

    Classification uses facts of the training data, in the held-out wording; the other
    three ask about territories that do not occur in training.

    Args:
        name: of the use.
        encoder: a `BERT` of the size of `fact_markers`; it is copied, not changed.
        frozen: train the head and the mix of layers only; False trains all.
        steps: batches of 64 examples, or of 32 where all is trained.
        labels: the number of labelled examples to learn from, drawn at random; None takes all.
        redraw: make new examples from the same facts in every epoch: other wrong answers, other
            passages; the few that are too long are left out. Not with `labels`.
        seed: draws the labelled examples, the head's weights and the order of the batches.

    Raises:
        ValueError: the encoder is of another size, there are fewer labelled examples, or both
            `labels` and `redraw` are given.
    """
    if redraw and labels is not None:
        raise ValueError(f"labels must be None where examples are redrawn, got {labels}")
    check_size("encoder", encoder)
    use = _use(name)
    torch.manual_seed(int(seed))
    reader = UseReader(deepcopy(encoder), use.head(encoder.d_model))
    reader.encoder.requires_grad_(not frozen)
    fit(
        reader,
        _shuffled(_epochs(name, labels, redraw, seed), reader.encoder, frozen=frozen, seed=seed),
        steps=steps,
        loss=use.loss,
        learning_rate=FROZEN_RATE if frozen else RATE,
        schedule=warmup_cosine(steps, warmup=min(WARMUP, steps - 1)),
        progress=False,
    )
    asked = use.examples("test")
    parts = [use_batch(asked[at : at + AT_ONCE]) for at in range(0, len(asked), AT_ONCE)]
    with torch.no_grad():
        right = torch.cat([use.right(reader.eval(), part) for part in parts]).tolist()
    return Learned(reader, asked, right, reader.mix.shares.tolist())


@accepts(examples=listed("examples", kind=instance(Labelled), least=1))
@torch.no_grad()
def answer_counts(
    reader: Callable[[UseBatch], AnswerLogits], examples: Sequence[Labelled]
) -> dict[str, tuple[int, int]]:
    """Count the correct answers to questions whose passage contains the answer, and to all others.

    Args:
        reader: a `UseReader` with an `AnswerHead`, or what reads a `UseBatch` as it does.
        examples: of answers or passages.

    Returns:
        {"with": (right, asked), "without": (right, asked)}.
    """
    parts = [examples[at : at + AT_ONCE] for at in range(0, len(examples), AT_ONCE)]
    right = [ok for part in parts for ok in _answer_right(reader, use_batch(part)).tolist()]
    kinds = {"with": [], "without": []}
    for one, is_right in zip(examples, right, strict=True):
        kinds["without" if one.label[0] < 0 else "with"].append(is_right)
    return {kind: (sum(some), len(some)) for kind, some in kinds.items()}


def _labelled(name: str, labels: int | None, seed: int) -> list[Labelled]:
    """All training examples of a use, or some of them, drawn at random."""
    known = _use(name).examples("train")
    if labels is None:
        return known
    if labels > len(known):
        raise ValueError(f"labels must be at most {len(known)} in {name}, got {labels}")
    return random.Random(distinct_seed(seed)).sample(known, labels)


def _epochs(name: str, labels: int | None, redraw: bool, seed: int) -> Iterator[list[Labelled]]:
    """The training examples of each epoch: the same ones, or each time others."""
    examples = _labelled(name, labels, seed)
    for epoch in counted():
        if redraw:
            examples = [one for one in _use(name).examples("train", epoch) if fits(one)]
        yield examples


@accepts(one=instance(Labelled))
def fits(one: Labelled) -> bool:
    """Whether the encoder has room for the texts of an example and their markers.

    Args:
        one: an example.
    """
    texts = [text for text in one[:2] if text is not None]
    return sum(len(split_bilingual(text)) + 1 for text in texts) < LONGEST


def _shuffled(
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
