"""Words through a model of attention alone: how surprising each is, what each head attends to."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.data.tokens.vocabulary import check_tokenizer
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.layers.record import record
from gates2heads.models.language.attention_only import AttentionOnly


class ObservedRepeats(NamedTuple):
    """T tokens, `<bos>` and the words; predictions and attention weights at each of them."""

    text: str
    tokens: list[str]  # T
    bits: Tensor  # (T - 1,) float64: the surprisal of each word
    likeliest: Tensor  # (T, K) long: the most probable next tokens after each token, falling
    probs: Tensor  # (T, K) float64: their probabilities
    weights: Tensor  # (layers, H, T, T): row t is what token t attends to
    vocabulary: list[str]  # V


@torch.no_grad()
@accepts(model=instance(AttentionOnly), text=string, top=natural)
def observe_repeats(
    model: AttentionOnly,
    text: str,
    tokenizer,
    *,
    off: Iterable[tuple[str, int]] = (),
    top: int = 5,
) -> ObservedRepeats:
    """Run a model on words, and keep what each head attends to in the same forward pass.

    Args:
        model: of any number of layers.
        text: words with spaces between them.
        tokenizer: of the model.
        off: heads to switch off, as `heads_off` takes them.
        top: K, number of the most probable next tokens that are kept.

    Raises:
        TypeError: `tokenizer` is not a tokenizer, or as raised by `heads_off`.
        ValueError: a word is not in the vocabulary, or there are too many; or as raised by the
            tokenizer, such as for an empty text.
    """
    check_tokenizer(tokenizer)
    numbers = tokenizer.encode(text, eos=False)
    vocabulary = tokenizer.vocabulary
    if getattr(vocabulary, "unk", None) in numbers:
        raise ValueError(f"text must hold words of the vocabulary alone, got {shown(text)}")
    if len(numbers) >= model.max_length:
        raise ValueError(f"text must have at most {model.max_length - 1} words, got {len(numbers)}")
    begun = torch.tensor([vocabulary.bos, *numbers])
    with record(model) as trace, heads_off(model, off):
        log_probs = model.logits(begun[None])[0].double().log_softmax(dim=-1)  # (T, V)
    surprisal = -log_probs[:-1].gather(1, begun[1:, None])[:, 0] / math.log(2)
    best = log_probs.topk(min(top, len(vocabulary)))
    layers = [f"layers.{depth}" for depth in range(len(model.layers))]
    return ObservedRepeats(
        text,
        [vocabulary.tokens[number] for number in begun.tolist()],
        surprisal.abs(),  # 0 and not −0 where a word was certain
        best.indices,
        best.values.exp(),
        torch.stack([trace[layer]["weights"][0][0] for layer in layers]),
        list(vocabulary.tokens),
    )
