"""A sentence with masked tokens, filled in from both sides or continued from the left."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, listed, natural, string, strings
from gates2heads.data.batches.joined import Markers, join
from gates2heads.data.tokens.bilingual import MASK, BilingualTokenizer, split_bilingual
from gates2heads.data.tokens.spans import Span
from gates2heads.decoding.search import greedy
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.filling import fill_gaps
from gates2heads.models.pretraining.gpt import GPT


class ObservedGaps(NamedTuple):
    """A distribution over the vocabulary for each masked token of a sentence."""

    tokens: list[str]  # L, as typed
    hidden: list[int]  # positions of the N masked tokens, from left to right
    log_probs: Tensor  # (N, V) in nats
    vocabulary: list[str]  # V, [MASK] last


class ObservedLine(NamedTuple):
    """How a model continued a prefix."""

    tokens: list[str]  # the prefix
    written: list[str]  # generated tokens, without the end marker
    log_probs: Tensor  # (T,) of each generated token, the end marker included, in nats
    finished: bool  # whether the end marker was generated


@accepts(
    model=instance(BERT),
    text=string,
    hidden=listed("places"),
    tokenizer=instance(BilingualTokenizer),
)
@torch.no_grad()
def observe_gaps(
    model: BERT, text: str, hidden: Iterable[int], tokenizer: BilingualTokenizer
) -> ObservedGaps:
    """Mask some tokens of a sentence, and keep the distribution that a model predicts for each.

    Args:
        model: a `BERT`.
        text: one sentence.
        hidden: positions of the masked tokens, counted from 0.
        tokenizer: of the model.

    Raises:
        TypeError, ValueError: as raised by the tokenizer or the model, no masked token, or a
            position beyond the sentence.
    """
    markers = Markers.of(tokenizer.vocabulary)
    numbers = tokenizer.encode(text, eos=False)
    places = list(hidden)
    for place in places:
        natural(least=0, most=len(numbers) - 1).check("each position of hidden", place)
    places = sorted({int(place) for place in places})
    if not places:
        raise ValueError("hidden must hold at least one position, got none")
    tokens = torch.tensor([join(numbers).tokens])
    gaps = torch.zeros_like(tokens, dtype=torch.bool)
    gaps[0, [place + 1 for place in places]] = True  # behind [CLS]
    log_probs = fill_gaps(model, tokens, gaps, markers=markers)
    vocabulary = [*tokenizer.vocabulary.tokens, MASK]
    return ObservedGaps(split_bilingual(text), places, log_probs, vocabulary)


@accepts(
    model=instance(GPT),
    text=string,
    length=natural(least=0),
    tokenizer=instance(BilingualTokenizer),
    max_length=natural,
)
def observe_line(
    model: GPT, text: str, length: int, tokenizer: BilingualTokenizer, *, max_length: int = 12
) -> ObservedLine:
    """Continue a prefix of a sentence greedily up to the end marker.

    Args:
        model: a `GPT`.
        text: one sentence.
        length: the number of its tokens that the model reads.
        tokenizer: of the model.
        max_length: the maximum number of tokens.

    Raises:
        TypeError, ValueError: as raised by the tokenizer or the search, or a length that exceeds
            the text or the model.
    """
    numbers = tokenizer.encode(text, eos=False)
    if length > len(numbers):
        raise ValueError(f"length must be at most {len(numbers)}, all tokens, got {length}")
    read = [tokenizer.vocabulary.bos, *numbers[:length]]
    if len(read) >= model.max_length:
        raise ValueError(
            f"length must be at most {model.max_length - 2}, the length of the model, got {length}"
        )
    room = model.max_length - len(read)
    with torch.no_grad():
        state = model.start(1, prompt=torch.tensor([read[:-1]])) if length else model.start(1)
        most = min(max_length, room)
        output = greedy(model.step, state, bos=read[-1], eos=Markers.sep, max_length=most)
        line = torch.tensor([read + output.tokens[0].tolist()])
        log_probs = model(line).log_softmax(dim=-1)[0, length:-1]
    written = output.tokens[0]
    steps = log_probs.gather(1, written[:, None])[:, 0]
    finished = bool(output.finished[0])
    if not finished and max_length > room:
        raise ValueError(
            f"max_length must be at most {room}, the length of the model, got {max_length}"
        )
    kept = written[:-1] if finished else written
    known = [*tokenizer.vocabulary.tokens, MASK]
    return ObservedLine(
        split_bilingual(text)[:length], [known[one] for one in kept], steps, finished
    )


@accepts(tokens=strings, names=strings)
def find_names(tokens: Sequence[str], names: Collection[str]) -> list[Span]:
    """Find names in a text, the longest one if several begin at the same position.

    Args:
        tokens: of the text, from `split_bilingual`.
        names: as texts.

    Returns:
        (start, end) each, from left to right: tokens[start:end] is the name. None overlap.
    """
    tokens = list(tokens)
    known = {tuple(split_bilingual(name)) for name in names}
    longest = max(map(len, known), default=0)
    found, start = [], 0
    while start < len(tokens):
        sizes = range(min(longest, len(tokens) - start), 0, -1)
        size = next((n for n in sizes if tuple(tokens[start : start + n]) in known), 0)
        if size:
            found.append((start, start + size))
        start += size or 1
    return found
