"""One sentence through a Transformer: the outputs of every sublayer of every block."""

from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, floats, natural, string
from gates2heads.decoding.search import greedy
from gates2heads.decoding.state import tensors
from gates2heads.decoding.translation import check_sides
from gates2heads.layers.record import Trace, record
from gates2heads.watching.observation import check_applied_once, check_stacks, weights_of

PARTS = {
    "encoder": ("self_attn", "feed_forward"),
    "decoder": ("self_attn", "cross_attn", "feed_forward"),
}


class Stage(NamedTuple):
    """The effect of one sublayer on the L tokens of its side; sizes are root mean squares."""

    stack: str  # "encoder" or "decoder"
    block: int  # 0 is the embedding with its positions, the blocks count from 1
    part: str  # "embedding", "self_attn", "cross_attn" or "feed_forward"
    before: Tensor | None  # (L,) size of each token's vector before it; None for an embedding
    added: Tensor | None  # (L,) size of the sublayer's output; None for an embedding
    after: Tensor  # (L,) size after the sublayer, after the norm in a post-norm model
    weights: Tensor | None  # (H, L, S) of an attention


class Readouts(NamedTuple):
    """The model's predictions at each of T steps if it ended after n blocks, n = 0 … N."""

    words: list[list[list[str]]]  # (N + 1, T, k) the most probable tokens, in decreasing order
    log_probs: Tensor  # (N + 1, T, k) of these, in nats
    rank: Tensor  # (N + 1, T) long: the number of tokens more probable than the generated one
    written: Tensor  # (N + 1, T) log-probability of the generated one, in nats


class Cache(NamedTuple):
    """The size of the decoder's cache of keys and values, in numbers, over all layers."""

    shape: tuple[int, int, int]  # decoder layers, heads H, head width K
    source: int  # of the source: computed once
    target: list[int]  # (T,) of the target, after each step
    without: list[int]  # (T,) computed up to this step without a cache: all at each step


class Walk(NamedTuple):
    """A translation, and the outputs of each sublayer of the model."""

    source: list[str]  # S tokens, <eos> last
    target: list[str]  # T tokens of the output, <eos> last if it was generated
    log_prob: float  # of the target, in nats
    stages: list[Stage]  # the encoder's and then the decoder's, in the order of computation
    readouts: Readouts
    cache: Cache


@accepts(text=string, top=natural, max_length=natural)
def walk(
    model: nn.Module, text: str, source, target, *, top: int = 5, max_length: int = 128
) -> Walk:
    """Translate one text by greedy search, and keep the outputs of all sublayers.

    Args:
        model: has `encoder_layers` and `decoder_layers`, as `Transformer` has.
        text: the input.
        source, target: the tokenizers of the two sides.
        top: k, the number of tokens listed at each step and depth.
        max_length: the maximum number of generated tokens, `<eos>` included.

    Raises:
        TypeError, ValueError: `text` cannot be encoded, the model has no such layers or applies one
            more than once, a tokenizer is not one, or the vocabulary is smaller than k.
    """
    check_stacks(model)
    check_sides(model, source, target)
    if top > len(target.vocabulary):
        raise ValueError(f"top must be at most {len(target.vocabulary)}, all tokens, got {top}")
    device = next(model.parameters()).device
    numbers, words, kept = source.encode(text), target.vocabulary, []

    def step(state, last_tokens):
        log_probs, state = model.step(state, last_tokens)
        kept.append(_count(state.past))
        return log_probs, state

    with record(model) as trace, torch.no_grad():
        state = model.start(torch.tensor([numbers], device=device))
        output = greedy(
            step,
            state,
            bos=torch.tensor([words.bos], device=device),
            eos=words.eos,
            pad=words.pad,
            max_length=max_length,
        )
    check_applied_once(model, trace)
    written, memory = output.tokens[0], _count(state.memory)
    shape = (len(state.memory), *state.memory[0].keys.shape[1::2])
    return Walk(
        [source.vocabulary.tokens[number] for number in numbers],
        [words.tokens[number] for number in written.tolist()],
        float(output.log_prob[0]),
        _stages(model, trace),
        _readouts(logit_lens(model, _streams(model, trace)), written, words.tokens, top),
        Cache(shape, memory, kept, list(accumulate(memory + past for past in kept))),
    )


@accepts(vectors=floats("… D"))
def logit_lens(model: nn.Module, vectors: Tensor) -> Tensor:
    """Apply the decoder's final norm and output projection to intermediate vectors (logit lens).

    Source: nostalgebraist 2020. Belrose et al. 2023 train a map for each layer first, since the
    output projection was trained only on the output of the last one.

    Args:
        model: has a `readout`, as `Transformer` has.
        vectors: (…, D), from between two blocks.

    Returns:
        log_probs (…, V).

    Raises:
        TypeError, ValueError: the model has no `readout`, or the width differs.
    """
    if not hasattr(model, "readout"):
        raise TypeError(
            f"model must have a readout, as a Transformer has, got {type(model).__name__}"
        )
    if vectors.shape[-1] != model.d_model:
        raise ValueError(f"vectors must be {model.d_model} wide, got {tuple(vectors.shape)}")
    with torch.no_grad():
        return model.readout(vectors).log_softmax(dim=-1)


def _streams(model: nn.Module, trace: Trace) -> Tensor:
    """The residual stream before, between and after the N blocks of the decoder: (N + 1, T, D)."""
    names = [f"decoder_layers.{depth}" for depth in range(len(model.decoder_layers))]
    first = trace.joined("decoder_layers.0.self_residual", "before")
    rest = (trace.joined(f"{name}.feed_forward_residual", "after") for name in names)
    return torch.stack([vectors[0] for vectors in (first, *rest)])


def _stages(model: nn.Module, trace: Trace) -> list[Stage]:
    """The effect of each sublayer, from the records of residuals and attention."""
    stages = []
    for stack, parts in PARTS.items():
        begin = f"{stack}_layers.0.self_residual"
        embedded = _size(trace.joined(begin, "before")[0])
        stages.append(Stage(stack, 0, "embedding", None, None, embedded, None))
        for depth in range(len(getattr(model, f"{stack}_layers"))):
            for part in parts:
                layer = f"{stack}_layers.{depth}.{part}"
                residual = f"{layer.removesuffix('_attn')}_residual"
                sizes = (
                    _size(trace.joined(residual, vectors)[0])
                    for vectors in ("before", "added", "after")
                )
                weights = weights_of(trace, layer) if part.endswith("attn") else None
                stages.append(Stage(stack, depth + 1, part, *sizes, weights))
    return stages


def _size(vectors: Tensor) -> Tensor:
    """The root mean square of each vector: (…, D) -> (…)."""
    return vectors.square().mean(dim=-1).sqrt().cpu()


def _readouts(log_probs: Tensor, written: Tensor, words: list[str], top: int) -> Readouts:
    """The most probable of log_probs (N + 1, T, V), and the ranks of the generated tokens (T,)."""
    best = log_probs.topk(top)
    own = log_probs.gather(2, written.expand(len(log_probs), -1)[..., None])  # (N + 1, T, 1)
    named = [[[words[token] for token in step] for step in depth] for depth in best.indices]
    rank = (log_probs > own).sum(dim=2)
    return Readouts(named, best.values.cpu(), rank.cpu(), own[..., 0].cpu())


def _count(kept) -> int:
    """The number of entries of a part of a state."""
    return sum(tensor.numel() for tensor in tensors(kept))
