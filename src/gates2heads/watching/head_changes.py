"""The translation of a Transformer beside that of the same model with changes.

The changes are heads that are off, words in another order, and an encoder without positional
encodings.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, flag, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.watching.observation import ObservedHeads, check_stacks, observe_heads


class HeadTranslation(NamedTuple):
    """One text, its translation, and the attention weights of all heads."""

    text: str
    written: str  # the translation as a text
    seen: ObservedHeads


class ObservedChange(NamedTuple):
    """The translation of one text by a complete Transformer and by the changed one."""

    off: list[tuple[str, int]]  # the heads that are off, as `heads_off` takes them
    order: list[int]  # the word at each position; empty for the order typed
    positions: bool  # whether the encoder has positional encodings
    base: HeadTranslation  # of the complete model
    now: HeadTranslation  # of the changed one, with the words in their order
    judged: list[float]  # log-probability of each token of `base` under the changed model, in nats
    # Of the changed one, with the words as typed; only without positions and with words moved
    unshuffled: HeadTranslation | None


@accepts(text=string, positions=flag, max_length=natural)
def observe_change(
    model: nn.Module,
    text: str,
    source,
    target,
    *,
    off: Sequence[tuple[str, int]] = (),
    order: Sequence[int] = (),
    positions: bool = True,
    max_length: int = 128,
) -> ObservedChange:
    """Translate one text by greedy search, with the complete model and with the changed one.

    Args:
        model: has `encoder_layers` and `decoder_layers`, as `Transformer` has.
        text: the input.
        source, target: the tokenizers of the two sides.
        off: the heads that are off in the changed model, as `heads_off` takes them.
        order: the order of the words for the changed model, counted from 0. Punctuation at the end
            of the text stays there. Empty for the order typed.
        positions: whether the changed model's encoder has positional encodings.
        max_length: the maximum number of generated tokens, `<eos>` included.

    Raises:
        TypeError: as in `observe_heads` and `heads_off`.
        ValueError: as there, or an order that does not contain each word once.
    """
    check_stacks(model)
    moved = in_order(text, order)

    def seen(of: str) -> HeadTranslation:
        heads = observe_heads(model, of, source, target, max_length=max_length)
        written = target.decode(target.vocabulary.encode(heads.target))
        return HeadTranslation(of, written, heads)

    base = seen(text)
    with heads_off(model, off), _positions_off(model, not positions):
        now = seen(moved)
        judged = _judged(model, source.encode(moved), base.seen.target, target)
        is_bag = not positions and moved != text
        unshuffled = seen(text) if is_bag else None
    heads = [(layer, head) for layer, head in off]
    return ObservedChange(heads, list(order), positions, base, now, judged, unshuffled)


def in_order(text: str, order: Sequence[int]) -> str:
    """The text with its words in another order, and the punctuation at its end where it was.

    Raises:
        ValueError: the order is not empty and does not contain each word once.
    """
    if not len(order):
        return text
    end = re.search(r"\s*[.!?…]*$", text).group()
    words = text[: len(text) - len(end)].split()
    if sorted(order) != list(range(len(words))):
        raise ValueError(
            f"order must contain each number from 0 to {len(words) - 1} once, got {shown(order)}"
        )
    return " ".join(words[place] for place in order) + end


@contextmanager
def _positions_off(model: nn.Module, is_off: bool) -> Iterator[None]:
    """Run the encoder without its positional encodings, added or rotary, while the block runs."""
    if not is_off:
        yield
        return
    layers = [layer.self_attn for layer in model.encoder_layers]
    before = [layer.rotary for layer in layers]
    handle = model.source_positions.register_forward_hook(_as_given)
    try:
        for layer in layers:
            layer.rotary = False
        yield
    finally:
        handle.remove()
        for layer, rotary in zip(layers, before, strict=True):
            layer.rotary = rotary


def _as_given(_module: nn.Module, inputs: tuple[Tensor], _output: Tensor) -> Tensor:
    """The vectors as they were before the positions were added."""
    return inputs[0]


@torch.no_grad()
def _judged(model: nn.Module, read: list[int], tokens: list[str], target: Any) -> list[float]:
    """The log-probability of each of some tokens, given those before it, in nats."""
    device = next(model.parameters()).device
    state = model.start(torch.tensor([read], device=device))
    found, last = [], target.vocabulary.bos
    for token in target.vocabulary.encode(tokens):
        log_probs, state = model.step(state, torch.tensor([last], device=device))
        found.append(log_probs[0, token].item())
        last = token
    return found
