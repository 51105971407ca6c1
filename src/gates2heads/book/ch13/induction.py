"""Chapter 13: attention heads that find a repetition: training, scores and circuits."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import (
    accepts,
    any_seed,
    instance,
    listed,
    natural,
    positive,
)
from gates2heads.book.ch12.training import surprisal
from gates2heads.book.ch13.repeats import (
    FIRST_WORD,
    LENGTH,
    TESTED,
    TIMES,
    Repeats,
    held_out,
    repeats,
    word_tokenizer,
)
from gates2heads.layers.attention.heads_off import Head, heads_of, heads_off
from gates2heads.layers.masks import causal_mask
from gates2heads.layers.record import record
from gates2heads.models.language.attention_only import AttentionOnly
from gates2heads.models.language.base import NeuralLanguageModel
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine

WIDTH, HEAD_WIDTH = 64, 16  # D and K
STEPS, BATCH, RATE = 3_000, 32, 5e-3

HEADS = listed("heads, as `heads_of` gives")


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


Change = Callable[[Head, Tensor], Tensor]


@torch.no_grad()
@accepts(model=instance(AttentionOnly))
def changed_accuracy(
    model: AttentionOnly,
    found: Repeats,
    *,
    weights: Change = lambda head, weights: weights,
    output: Change = lambda head, output: output,
) -> Tensor:
    """The accuracy on each token of the repeat (Q,) with changed heads, 1 or 0.

    Args:
        model: whose heads are changed.
        found: the sequences; Q tokens of them count, as `found.queries` says.
        weights: takes a head and its attention weights (B, T, T), returns those to use instead.
        output: takes a head and its output (B, T, D), returns the output to use instead.
    """
    tokens = found.tokens[:, :-1]
    vectors = model.token_table(tokens) + model.position_table.weight[: tokens.shape[1]]
    future = ~causal_mask(tokens.shape[1])
    for depth, layer in enumerate(model.layers):
        outputs = []
        for head in (Head(f"layers.{depth}", number) for number in range(layer.num_heads)):
            scores = vectors @ model.qk_matrix(depth, head.head) @ vectors.mT
            attended = weights(head, scores.masked_fill(future, -torch.inf).softmax(dim=-1))
            outputs.append(output(head, attended @ vectors @ model.ov_matrix(depth, head.head)))
        vectors = vectors + sum(outputs)
    right = model.output(vectors).argmax(dim=-1) == found.tokens[:, 1:]
    return right[found.queries].double()


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
