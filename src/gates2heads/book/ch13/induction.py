"""Chapter 13: sequences with repeated passages, and attention heads that find the repetition."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    any_seed,
    choice,
    instance,
    listed,
    natural,
    positive,
    tokens,
)
from gates2heads.book.ch12.training import surprisal
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.layers.attention.heads_off import Head, heads_of, heads_off
from gates2heads.layers.record import record
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.models.language.base import NeuralLanguageModel
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine

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
HELD = range(12, 20)  # offsets that do not occur in training
SUCCESSORS = (0.25, 0.15, 0.1, 0.05)  # probabilities; otherwise any word follows
KINDS = ("chain", "random")  # of words: from the Markov chain, or all different
OFFSETS = ("trained", "held")
TIMES = 3  # passages that are repeated in a sequence of the training data
WIDTH, HEAD_WIDTH = 64, 16  # D and K
STEPS, BATCH, RATE = 3_000, 32, 5e-3
TESTED = 512  # sequences

HEADS = listed("heads, as `heads_of` gives")


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
            if (offset in HELD) == (offsets == "held")
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


@accepts(layers=natural, width=natural)
def induction_model(layers: int, *, width: int = WIDTH) -> AttentionOnly:
    """A model of attention alone, with four heads in each of its layers if D = 64."""
    return AttentionOnly(
        len(word_tokenizer().vocabulary),
        d_model=width,
        nhead=width // HEAD_WIDTH,
        num_layers=layers,
        max_length=LENGTH,
    )


@accepts(layers=natural, seed=any_seed, width=natural, steps=natural, rate=positive)
def train_induction(
    layers: int,
    seed: int,
    *,
    width: int = WIDTH,
    steps: int = STEPS,
    rate: float = RATE,
    evaluate: Callable[[nn.Module], Any] | None = None,
    evaluate_at: Sequence[int] = (),
    progress: bool = True,
) -> tuple[AttentionOnly, History]:
    """Train a model on words of the Markov chain with repeated passages.

    Args:
        layers: one or two in this section.
        seed: of the initialisation and of the sampled sequences.
        width: D, a multiple of 16, the width of a head.
        steps: batches of 32 sequences with 64 words each, every sequence a new one.
        rate: the peak learning rate of a cosine schedule with 100 warm-up steps.
        evaluate, evaluate_at, progress: as for `fit`.
    """
    torch.manual_seed(seed)
    model = induction_model(layers, width=width)
    history = fit(
        model,
        (found.tokens for found in repeats(BATCH, times=TIMES, seed=1_000 + seed)),
        steps=steps,
        loss=surprisal,
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=min(100, steps // 2)),
        betas=(0.9, 0.95),
        weight_decay=0.01,
        evaluate=evaluate,
        evaluate_at=evaluate_at,
        description=f"{layers} layers, seed {seed}",
        progress=progress,
    )
    return model.eval(), history


@accepts(kind=choice(KINDS), offsets=choice(OFFSETS), size=natural, seed=any_seed)
@cache
def held_out(kind: str, offsets: str = "trained", *, size: int = TESTED, seed: int = 0) -> Repeats:
    """Sequences for tests, which differ from those of training; see `repeats`."""
    return next(repeats(size, kind=kind, offsets=offsets, seed=10_000_000 + seed))


class Scores(NamedTuple):
    """How well a model predicts sequences; losses in nats per token."""

    first: float  # loss of the tokens outside the repeat
    repeat: float  # loss of the tokens of the repeat but the first
    accuracy: float  # share of the latter that are the most probable token


@torch.no_grad()
@accepts(model=instance(NeuralLanguageModel), found=instance(Repeats, "from `repeats`"))
def scores(model: NeuralLanguageModel, found: Repeats) -> Scores:
    """Measure how well a model predicts the repeat and the rest of sequences."""
    logits, wanted, queries = model.logits(found.tokens[:, :-1]), found.tokens[:, 1:], found.queries
    losses = F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none").double()  # (B, T)
    right = (logits.argmax(dim=-1) == wanted)[queries].double()
    values = losses[~queries], losses[queries], right
    return Scores(*(some.mean().item() for some in values))


@torch.no_grad()
@accepts(model=instance(NeuralLanguageModel))
def plain_loss(model: NeuralLanguageModel) -> float:
    """The loss in nats per token of words of the Markov chain without repeats."""
    found = next(repeats(TESTED, times=0, seed=20_000_000))
    return surprisal(model, found.tokens).item()


class HeadScores(NamedTuple):
    """What each of N heads attends to on average."""

    heads: list[Head]
    prefix_matching: list[float]  # weight of the token after the earlier occurrence
    previous: list[float]  # weight of the previous token

    def best(self, which: str) -> Head:
        """The head with the largest score, "prefix_matching" or "previous"."""
        values = getattr(self, which)
        return self.heads[max(range(len(values)), key=values.__getitem__)]


@torch.no_grad()
@accepts(model=instance(NeuralLanguageModel), found=instance(Repeats, "from `repeats`"))
def head_scores(model: NeuralLanguageModel, found: Repeats) -> HeadScores:
    """The prefix-matching score and the previous-token score of every head.

    Source: Olsson et al. 2022, who define both. The prefix-matching score is the average attention
    from a token of the repeat to the token after its earlier occurrence.
    """
    heads = heads_of(model)
    with record(model) as trace:
        model.logits(found.tokens[:, :-1])
    sequences, queries = found.queries.nonzero(as_tuple=True)
    after = queries - found.offset[sequences] + 1
    later = torch.arange(1, found.tokens.shape[1] - 1)
    prefix, previous = [], []
    for name in dict.fromkeys(head.layer for head in heads):
        (weights,) = trace[name]["weights"]  # (B, H, T, T)
        weights = weights.double()
        prefix.extend(weights[sequences, :, queries, after].mean(dim=0).tolist())
        previous.extend(weights[:, :, later, later - 1].mean(dim=(0, 2)).tolist())
    return HeadScores(heads, prefix, previous)


@accepts(model=instance(NeuralLanguageModel), found=instance(Repeats, "from `repeats`"), off=HEADS)
def scores_without(model: NeuralLanguageModel, found: Repeats, off: Sequence[Head]) -> Scores:
    """As `scores`, with some heads switched off."""
    with heads_off(model, off):
        return scores(model, found)


class Copying(NamedTuple):
    """Whether the OV circuit of heads copies words."""

    largest: float  # share of the words whose own logit it raises the most
    eigenvalues: float  # Σ λ / Σ |λ|, from −1 to 1: 1 if all are positive


@torch.no_grad()
@accepts(model=instance(AttentionOnly), heads=HEADS)
def copying(model: AttentionOnly, heads: Sequence[Head]) -> Copying:
    """The full OV circuit of heads, from the word attended to, to the logits of words.

    Source: Elhage et al. 2021, section "Summarizing OV/QK Matrices".

    Args:
        model: whose heads they are.
        heads: one, or several that attend to the same word, whose outputs are added.
    """
    words = model.token_table.weight[FIRST_WORD:].double()
    output = model.output.weight[FIRST_WORD:].double()
    moved = sum(words @ model.ov_matrix(_depth(one), one.head).double() for one in heads)
    circuit = moved @ output.T  # (W, W)
    values = torch.linalg.eigvals(circuit)
    positive_share = (values.real.sum() / values.abs().sum()).item()
    return Copying(_diagonal(circuit), positive_share)


@torch.no_grad()
@accepts(model=instance(AttentionOnly), previous=HEADS)
def composition(model: AttentionOnly, head: Head, previous: Sequence[Head]) -> float:
    """How far a head matches its word with the word that earlier heads moved to a key.

    The score of a query w and a key, before which a word w' is, contains the term e_w W_Q W_Kᵀ
    (e_w' W_V W_O)ᵀ: K-composition, Elhage et al. 2021, section "Three Kinds of Composition".

    Args:
        model: of two layers.
        head: of the second layer.
        previous: heads of the first layer, whose outputs are added.

    Returns:
        the share of words w for which the term is largest at w' = w.
    """
    words = model.token_table.weight[FIRST_WORD:].double()
    moved = sum(words @ model.ov_matrix(_depth(one), one.head).double() for one in previous)
    return _diagonal(words @ model.qk_matrix(_depth(head), head.head).double() @ moved.T)


def _depth(head: Head) -> int:
    """The number of a head's layer."""
    return int(head.layer.split(".")[1])


def _diagonal(circuit: Tensor) -> float:
    """The share of rows (W, W) whose largest entry is on the diagonal."""
    return (circuit.argmax(dim=1) == torch.arange(len(circuit))).double().mean().item()


@accepts(model=instance(AttentionOnly))
def circuits(model: AttentionOnly) -> dict[str, Any]:
    """All that a study stores about the heads of a model, as plain values."""
    found = held_out("random")
    summary = head_scores(model, found)
    first = [head for head in summary.heads if _depth(head) == 0]
    later = [head for head in summary.heads if _depth(head) > 0]
    last = later or first
    return {
        "heads": [list(head) for head in summary.heads],
        "prefix_matching": summary.prefix_matching,
        "previous": summary.previous,
        "copying": [list(copying(model, [head])) for head in summary.heads],
        "copying_last": list(copying(model, last)),
        "without": [list(scores_without(model, found, [head])) for head in summary.heads],
        "without_first": list(scores_without(model, found, first)),
        "without_last": list(scores_without(model, found, last)),
        "composition": [
            [composition(model, head, [one]) for one in first] + [composition(model, head, first)]
            for head in later
        ],
    }
