"""One text, its translation, and the scores and weights of attention."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, natural, string
from gates2heads.decoding.translation import up_to_end, write
from gates2heads.layers.record import Trace, record


class Observed(NamedTuple):
    """Source, output, and the attention between the two."""

    source: list[str]  # S tokens, <eos> last
    target: list[str]  # T tokens of the output, <eos> last if it was generated
    weights: Tensor | None  # (T, S), rows sum to 1; None for a model without attention
    scores: Tensor | None  # (T, S), before the softmax; None with the weights


@accepts(text=string, layer=string, max_length=natural)
def observe(
    model: nn.Module,
    text: str,
    source,
    target,
    *,
    layer: str = "decoder.attention",
    max_length: int = 128,
) -> Observed:
    """Translate one text by greedy search, and keep scores and weights of the same forward pass.

    Args:
        model: has `start(source, mask=)` and `step(state, last_tokens)`.
        text: the input.
        source, target: the tokenizers of the two sides.
        layer: the name of the attention layer; a model without it has no attention.
        max_length: the maximum number of generated tokens, `<eos>` included.

    Raises:
        TypeError, ValueError: as in `write`.
    """
    with record(model) as trace:
        tokens = write(model, [text], source, target, max_length=max_length).tokens[0].tolist()
    read, written = _in_words(text, tokens, source, target)
    if layer not in trace:
        return Observed(read, written, None, None)
    weights, scores = (
        trace.joined(layer, quantity)[0, : len(written)].cpu() for quantity in ("weights", "scores")
    )
    return Observed(read, written, weights, scores)


class ObservedHeads(NamedTuple):
    """Source and output of a Transformer, and the attention weights of all heads."""

    source: list[str]  # S tokens, <eos> last
    target: list[str]  # T tokens of the output, <eos> last if it was generated
    log_prob: float  # of the target, in nats
    encoder: Tensor  # (layers, H, S, S) weights of the encoder's self-attention
    decoder: Tensor  # (layers, H, T, T) of the decoder's: row t has read <bos> and t tokens
    cross: Tensor  # (layers, H, T, S): the decoder's weights on the source


@accepts(text=string, max_length=natural)
def observe_heads(
    model: nn.Module, text: str, source, target, *, max_length: int = 128
) -> ObservedHeads:
    """Translate one text by greedy search, and keep all weights of the same forward pass.

    Args:
        model: has `encoder_layers` and `decoder_layers`, as `Transformer` has.
        text: the input.
        source, target: the tokenizers of the two sides.
        max_length: the maximum number of generated tokens, `<eos>` included.

    Raises:
        TypeError, ValueError: the model has no such layers or applies one more than once, or as in
            `write`.
    """
    check_stacks(model)
    with record(model) as trace:
        output = write(model, [text], source, target, max_length=max_length)
    check_applied_once(model, trace)
    read, written = _in_words(text, output.tokens[0].tolist(), source, target)
    maps = (
        torch.stack([weights_of(trace, f"{stack}.{depth}.{block}") for depth in range(len(layers))])
        for stack, block, layers in (
            ("encoder_layers", "self_attn", model.encoder_layers),
            ("decoder_layers", "self_attn", model.decoder_layers),
            ("decoder_layers", "cross_attn", model.decoder_layers),
        )
    )
    return ObservedHeads(read, written, float(output.log_prob[0]), *maps)


def _in_words(text: str, tokens: list[int], source, target) -> tuple[list[str], list[str]]:
    """The S source tokens and the T output tokens, with `<eos>` last."""
    numbers = source.encode(text), up_to_end(tokens, target)
    read, written = (
        [side.vocabulary.tokens[number] for number in its]
        for side, its in zip((source, target), numbers, strict=True)
    )
    return read, written


def weights_of(trace: Trace, layer: str) -> Tensor:
    """The weights (H, T, S) of one attention; steps with fewer keys end in zeros."""
    steps = trace[layer]["weights"]  # of each step: (1, H, ·, keys)
    size = steps[-1].shape[3]
    padded = [F.pad(step, (0, size - step.shape[3])) for step in steps]
    return torch.cat(padded, dim=2)[0].cpu()


def check_stacks(model: nn.Module) -> None:
    """Reject a model without the two stacks of layers of a Transformer.

    Raises:
        TypeError: with a message that states what is missing.
    """
    if not (hasattr(model, "encoder_layers") and hasattr(model, "decoder_layers")):
        raise TypeError(
            "model must have encoder_layers and decoder_layers, as a Transformer has, got "
            f"{type(model).__name__}"
        )


def check_applied_once(model: nn.Module, trace: Trace) -> None:
    """Reject a trace in which a layer ran more than once on the source.

    Raises:
        TypeError: with a message that names the kind of model.
    """
    if len(trace["encoder_layers.0.self_attn"]["weights"]) > 1:
        raise TypeError(f"model must apply each layer once, which {type(model).__name__} does not")
