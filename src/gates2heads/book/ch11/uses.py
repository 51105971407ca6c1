"""A pre-trained encoder and a small head: four uses, learned from facts in seconds."""

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import lru_cache
from itertools import count as counted
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    any_seed,
    choice,
    flag,
    instance,
    listed,
    maybe,
    natural,
    positive,
)
from gates2heads.accepts.values import distinct_seed
from gates2heads.book.ch11.pretraining import check_size
from gates2heads.book.ch11.use_batches import (
    AT_ONCE,
    UseBatch,
    UseReader,
    fits,
    shuffled_batches,
    use_batch,
)
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
from gates2heads.models.pretraining.answers import AnswerHead, AnswerLogits, best_answers
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy
from gates2heads.training.pretraining_losses import answer_loss, label_loss
from gates2heads.training.schedules import warmup_cosine

LONGEST_ANSWER = 16  # tokens
STEPS, FROZEN_RATE, RATE, WARMUP = 200, 1e-2, 1e-3, 20


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
    rate_factor=positive,
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
    rate_factor: float = 1.0,
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
        rate_factor: multiplies the learning rate.
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
        shuffled_batches(
            _epochs(name, labels, redraw, seed), reader.encoder, frozen=frozen, seed=seed
        ),
        steps=steps,
        loss=use.loss,
        learning_rate=rate_factor * (FROZEN_RATE if frozen else RATE),
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


@accepts(name=choice([*USES, *MORE]), labels=maybe(natural(least=1)), seed=any_seed)
def labelled_examples(name: str, labels: int | None, *, seed: int = 0) -> list[Labelled]:
    """All training examples of a use, or some of them, drawn at random.

    Args:
        name: of `USES` or `MORE`.
        labels: how many; None takes all.
        seed: draws them.
    Raises:
        ValueError: there are fewer.
    """
    known = _use(name).examples("train")
    if labels is None:
        return known
    if labels > len(known):
        raise ValueError(f"labels must be at most {len(known)} in {name}, got {labels}")
    return random.Random(distinct_seed(seed)).sample(known, labels)


def _epochs(name: str, labels: int | None, redraw: bool, seed: int) -> Iterator[list[Labelled]]:
    """The training examples of each epoch: the same ones, or each time others."""
    examples = labelled_examples(name, labels, seed=seed)
    for epoch in counted():
        if redraw:
            examples = [one for one in _use(name).examples("train", epoch) if fits(one)]
        yield examples
