"""Chapter 12: the source of Python and of some packages as tokens for language models."""

import math
import random
from array import array
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, choice, instance, natural, tokens
from gates2heads.data.batches.passages import passages
from gates2heads.data.corpora.python.source import PACKAGES, python_source
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.base import NeuralLanguageModel

VOCABULARY = 2_048
LENGTH = 256  # tokens that a model reads at most
TESTED = 2**18  # tokens of a split that are scored
KINDS = ("pair", "token", "new")  # of tokens, by what occurred before them
AT_ONCE = 32  # passages that are scored, or modules that are cut into tokens, in one batch


@cache
def python_tokenizer() -> BPETokenizer:
    """Byte-pair encoding with 2,048 tokens, learned from the standard library (training split)."""
    return BPETokenizer.train([module.text for module in python_source("train")], VOCABULARY)


class PythonText(NamedTuple):
    """A split of the Python source in one long row of tokens."""

    tokens: Tensor  # (N,) long; every module ends with `<eos>`
    characters: int  # behind the tokens, the end of a module counted as one


@accepts(split=choice(SPLITS))
@cache
def python_text(split: str) -> PythonText:
    """Read the modules of a split in a random order that is always the same, cut into tokens.

    They are those of the standard library and of five packages that every reader has.
    """
    modules = [module.text for module in python_source(split, packages=PACKAGES)]
    random.Random(0).shuffle(modules)
    numbers = array("i")
    for start in range(0, len(modules), AT_ONCE):
        for module in python_tokenizer().encode_all(modules[start : start + AT_ONCE]):
            numbers.extend(module)
    tokens = torch.frombuffer(numbers, dtype=torch.int32).long()
    return PythonText(tokens, sum(len(module) + 1 for module in modules))


@accepts(tokens=tokens("N"), length=natural)
def consecutive(tokens: Tensor, length: int) -> Iterator[Tensor]:
    """Cut a text (N,) into passages as a model reads them: `<bos>`, then `length` tokens.

    Gives batches (B, length + 1); the rest that fills no passage is left out.
    """
    rows = tokens[: len(tokens) // length * length].view(-1, length)
    begin = torch.full_like(rows[:, :1], Vocabulary.bos)
    yield from torch.cat([begin, rows], dim=1).split(AT_ONCE)


@torch.no_grad()
@accepts(
    model=instance(NeuralLanguageModel),
    text=instance(PythonText, "from `python_text`"),
    length=natural,
    most=natural,
)
def bits_per_character(
    model: NeuralLanguageModel, text: PythonText, *, length: int = LENGTH, most: int = TESTED
) -> float:
    """The cross-entropy of a text in bits per character; lower is better.

    Args:
        model: in evaluation mode.
        text: of one split.
        length: tokens of each passage; the model sees none before it.
        most: how many tokens are read, from the first on.
    """
    nats = sum(found.sum().item() for _, found in _surprisals(model, text, length, most))
    return nats / math.log(2) / _characters(text, length, most)


def continues_a_pair(passages: Tensor) -> Tensor:
    """Which tokens repeat a pair: they follow a token that they have followed before.

    Args:
        passages: (B, L + 1) long.

    Returns:
        (B, L) bool, for all tokens but the first of each passage.
    """
    pairs = torch.stack([passages[:, :-1], passages[:, 1:]], dim=2)  # (B, L, 2)
    same = (pairs[:, :, None] == pairs[:, None]).all(dim=3)  # (B, L, L)
    return same.tril(-1).any(dim=2)


def occurred_before(passages: Tensor) -> Tensor:
    """Which tokens occur earlier in their passage: (B, L + 1) long -> (B, L) bool, as above."""
    same = passages[:, :, None] == passages[:, None]  # (B, L + 1, L + 1)
    return same.tril(-1).any(dim=2)[:, 1:]


class Part(NamedTuple):
    """One kind of tokens of a text."""

    share: float  # of all tokens
    bits: float  # their part of the bits per character: those of all kinds add up to it


@torch.no_grad()
@accepts(
    model=instance(NeuralLanguageModel),
    text=instance(PythonText, "from `python_text`"),
    length=natural,
    most=natural,
)
def bits_by_context(
    model: NeuralLanguageModel, text: PythonText, *, length: int = LENGTH, most: int = TESTED
) -> dict[str, Part]:
    """The bits per character of three kinds of tokens, by what the passage has before them.

    "pair": the token and the one before it occur as a pair earlier in the passage. "token": only
    the token occurs earlier. "new": neither does.

    Args:
        model: in evaluation mode.
        text: of one split.
        length: tokens of each passage; the model sees none before it.
        most: how many tokens are read, from the first on.
    """
    count, nats = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0.0)
    for passage, found in _surprisals(model, text, length, most):
        pair, token = continues_a_pair(passage), occurred_before(passage)
        for kind, where in zip(KINDS, (pair, token & ~pair, ~token), strict=True):
            count[kind] += int(where.sum())
            nats[kind] += found[where].sum().item()
    read, characters = sum(count.values()), _characters(text, length, most)
    return {kind: Part(count[kind] / read, nats[kind] / math.log(2) / characters) for kind in KINDS}


def _surprisals(
    model: NeuralLanguageModel, text: PythonText, length: int, most: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """The passages (B, L + 1) of a text, and the nats (B, L) of their tokens but the first."""
    device = next(model.parameters()).device
    for batch in consecutive(text.tokens[:most], length):
        passage = batch.to(device)
        scores = model.logits(passage[:, :-1]).log_softmax(dim=-1)  # (B, L, V)
        yield passage, -scores.gather(2, passage[:, 1:, None])[:, :, 0].double()


def _characters(text: PythonText, length: int, most: int) -> float:
    """How many characters there are, on average, behind the tokens that are read."""
    read = min(len(text.tokens), most) // length * length
    return read / len(text.tokens) * text.characters


@accepts(tokens=tokens("N"), batch=natural, length=natural, seed=any_seed)
def prefixed_passages(tokens: Tensor, batch: int, *, length: int, seed: int) -> Iterator[Tensor]:
    """Yield random passages of a text (N,) indefinitely: `<bos>`, then `length` tokens."""
    begin = torch.full((batch, 1), Vocabulary.bos)
    for passage in passages(tokens, batch, length=length - 1, seed=seed):
        yield torch.cat([begin, passage], dim=1)
