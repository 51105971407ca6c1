"""Translation of texts: tokenizer, model, search and detokenization."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, natural, string, strings
from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.vocabulary import check_tokenizer
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import RULE, LengthRule
from gates2heads.decoding.search import Output, greedy
from gates2heads.layers.record import record


class Aligned(NamedTuple):
    """One text, its translation, and the attention weights."""

    source: list[str]  # S tokens, <eos> last
    target: list[str]  # T tokens of the output, <eos> last if it was generated
    weights: Tensor  # (T, S), rows sum to 1


@accepts(texts=strings(least=1), max_length=natural, width=natural, length_rule=RULE)
def write(
    model: nn.Module,
    texts: Sequence[str],
    source,
    target,
    *,
    max_length: int,
    width: int = 1,
    length_rule: LengthRule | None = None,
) -> Output:
    """Encode the texts and generate an output for each.

    Args:
        model: has `start(source, mask=)` and `step(state, last_tokens)`.
        texts: B texts.
        source, target: the tokenizers of the two sides.
        max_length: the maximum number of generated tokens, `<eos>` included.
        width: 1 is greedy search; more is beam search of that width, with refilled slots.
        length_rule: the divisor of a beam's log-probabilities; none if not given.

    Raises:
        TypeError, ValueError: a text cannot be encoded, `model` is not a translation model, or a
            tokenizer is not one.
    """
    check_sides(model, source, target)
    device = next(model.parameters(), torch.empty(0)).device
    tokens, mask = (part.to(device) for part in pad([source.encode(text) for text in texts]))
    words = target.vocabulary
    with torch.no_grad():
        state = model.start(tokens, mask=mask)
    bos = torch.full((len(texts),), words.bos, device=device)
    ends = {"bos": bos, "eos": words.eos, "max_length": max_length, "pad": words.pad}
    if width == 1:
        return greedy(model.step, state, **ends)
    found = beam(model.step, state, **ends, width=width, length_rule=length_rule, refill=True)
    return found.best()


@accepts(max_length=natural)
def translate(
    model: nn.Module, texts: Sequence[str], source, target, *, max_length: int = 128, **search
) -> list[str]:
    """Generate one output text for each input text; arguments as for `write`."""
    output = write(model, texts, source, target, max_length=max_length, **search)
    _check_written(output, target)
    return [target.decode(row) for row in output.tokens.tolist()]


@accepts(layer=string, max_length=natural)
def align(
    model: nn.Module,
    texts: Sequence[str],
    source,
    target,
    *,
    layer: str = "decoder.attention",
    max_length: int = 128,
) -> list[Aligned]:
    """Translate, and keep the attention weights of the same forward pass.

    Args:
        model, texts, source, target, max_length: as for `write`.
        layer: the name of the layer whose `weights` (B, 1, S) per step are returned.

    Raises:
        KeyError: the layer recorded nothing, for instance because the model has no attention.
    """
    with record(model) as trace:
        output = write(model, texts, source, target, max_length=max_length)
    _check_written(output, target)
    weights = trace.joined(layer, "weights").cpu()  # (B, T, S)
    aligned = []
    for row, one, map_ in zip(output.tokens.tolist(), texts, weights, strict=True):
        read = [source.vocabulary.tokens[number] for number in source.encode(one)]
        written = [target.vocabulary.tokens[number] for number in up_to_end(row, target)]
        aligned.append(Aligned(read, written, map_[: len(written), : len(read)]))
    return aligned


@accepts(text=string, max_length=natural)
def align_heads(
    model: nn.Module, text: str, source, target, *, max_length: int = 128, **search
) -> Aligned:
    """Translate one text with a Transformer, and keep the attention weights of all heads.

    The weights are taken from another forward pass over the output, since the steps of a beam
    search mix its hypotheses; every weight is the same as in the step that generated its token.

    Args:
        model: has `decoder_layers` with `cross_attn`, as `Transformer` has.
        text: the input.
        source, target, max_length, search: as for `write`.

    Returns:
        its `weights` are (layers, H, T, S).

    Raises:
        TypeError: the model has no such layers.
    """
    if not hasattr(model, "decoder_layers"):
        raise TypeError(
            "model must have decoder_layers with cross_attn, as a Transformer has, got "
            f"{type(model).__name__}"
        )
    output = write(model, [text], source, target, max_length=max_length, **search)
    _check_written(output, target)
    written = up_to_end(output.tokens[0].tolist(), target)
    words, read = target.vocabulary, source.encode(text)
    device = output.tokens.device
    state = model.start(torch.tensor([read], device=device))
    with torch.no_grad(), record(model) as trace:
        for token in [words.bos, *written[:-1]]:
            _, state = model.step(state, torch.tensor([token], device=device))
    layers = [f"decoder_layers.{depth}.cross_attn" for depth in range(len(model.decoder_layers))]
    weights = torch.cat([trace.joined(layer, "weights", dim=2) for layer in layers]).cpu()
    return Aligned(
        [source.vocabulary.tokens[number] for number in read],
        [words.tokens[number] for number in written],
        weights,
    )


def up_to_end(numbers: list[int], target) -> list[int]:
    """The numbers up to the first `<eos>`, which is kept.

    Args:
        numbers: the output of a model, including `<eos>` and what follows it.
        target: the tokenizer of the output.
    """
    eos = target.vocabulary.eos
    return numbers[: numbers.index(eos) + 1] if eos in numbers else numbers


def check_sides(model: nn.Module, source: Any, target: Any) -> None:
    """Reject anything but a translation model and tokenizers.

    Raises:
        TypeError: with a message that names the argument.
    """
    start = getattr(model, "start", None)  # that of a language model has no mask
    if not (start and "mask" in signature(start).parameters and hasattr(model, "step")):
        raise TypeError(
            "model must have `start(source, mask=)` and `step(state, last_tokens)`, as a "
            f"translator has, got {type(model).__name__}"
        )
    for name, tokenizer in (("source", source), ("target", target)):
        check_tokenizer(tokenizer, name)


def _check_written(output: Output, target) -> None:
    """Reject a tokenizer that does not know the model's output."""
    most, size = int(output.tokens.max()), len(target.vocabulary)
    if most >= size:
        raise ValueError(
            f"target must be the tokenizer that the model was trained with: it generated token "
            f"{most}, but it knows 0 to {size - 1}"
        )
