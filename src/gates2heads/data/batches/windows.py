"""Context windows, on which word vectors are trained."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import (
    accepts,
    any_seed,
    anything,
    floats,
    generator,
    instance,
    natural,
    positive,
)
from gates2heads.accepts.shown import shown
from gates2heads.data.batches.pairs import pad


class Text(NamedTuple):
    """Concatenated sentences in one tensor of tokens."""

    tokens: Tensor  # (N,) long
    sentence: Tensor  # (N,) long: the number of each token's sentence


TEXT = instance(Text, "from `join_sentences`")


class Windows(NamedTuple):
    """B positions of a text, and the words around each."""

    center: Tensor  # (B,) long
    context: Tensor  # (B, 2m) long, from left to right
    mask: Tensor  # (B, 2m) bool, True = in the sentence and within the window

    def to(self, device: torch.device | str) -> "Windows":
        """The same windows on another device."""
        return Windows(*(tensor.to(device) for tensor in self))


class Blocks(NamedTuple):
    """A text cut into blocks of k positions, each with the m words on both sides of it.

    Adjacent positions share most of their windows, so that one matrix product per block replaces k.
    """

    center: Tensor  # (N, k) long
    context: Tensor  # (N, k + 2m) long: the block itself, with a margin of m words
    band: Tensor  # (N, k, k + 2m) bool, True = the word is in the window of the center


def join_sentences(sentences: Sequence[Sequence[int]]) -> Text:
    """Concatenate sentences of token numbers.

    Raises:
        ValueError: there is no sentence, or one is empty.
    """
    tokens, mask = pad(sentences)
    number = torch.arange(len(tokens))[:, None].expand_as(tokens)
    return Text(tokens[mask], number[mask])


@accepts(counts=anything("V", empty=False), threshold=positive)
def keep_probabilities(counts: Tensor, threshold: float) -> Tensor:
    """The probability with which a word is kept when frequent words are subsampled.

    A word with relative frequency f is kept with probability sqrt(t/f) + t/f, at most 1.

    Source: Mikolov et al. 2013, "Distributed Representations", section 2.3. Departs from its
    equation 5, which has the square root alone, as do the authors' program and gensim.

    Args:
        counts: (V,), how often each word occurs, or its relative frequency.
        threshold: t; words with a relative frequency above it are subsampled, 1e-3 for small texts.

    Returns:
        (V,) probabilities; 1 for a word that does not occur.

    Raises:
        ValueError: a count is negative or not finite, or all are zero.
    """
    check_counts(counts)
    counts = counts.to(torch.promote_types(counts.dtype, torch.float32))  # half overflows
    ratio = float(threshold) * counts.sum() / counts  # t / f, ∞ for a word that does not occur
    return (ratio.sqrt() + ratio).clamp(max=1)


@accepts(text=TEXT, keep=floats("V", empty=False), generator=generator)
def subsample(text: Text, keep: Tensor, *, generator: torch.Generator | None = None) -> Text:
    """Remove each token with its own probability, and close the gaps.

    Args:
        text: any text.
        keep: (V,) from `keep_probabilities`.
        generator: for sampling; each epoch is sampled again.

    Raises:
        ValueError: `keep` does not contain probabilities, or is too short for the numbers of the
            text.
    """
    if not ((keep >= 0) & (keep <= 1)).all():
        raise ValueError(f"keep must hold probabilities (V,), got {shown(keep)}")
    if len(text.tokens) and int(text.tokens.max()) >= len(keep):
        raise ValueError(
            f"keep must hold a probability for every token up to {int(text.tokens.max())}, got "
            f"{len(keep)}"
        )
    stays = torch.rand(len(text.tokens), generator=generator) < keep[text.tokens]
    return Text(text.tokens[stays], text.sentence[stays])


@accepts(text=TEXT, width=natural, window=natural, generator=generator)
def cut_blocks(
    text: Text, *, width: int, window: int, generator: torch.Generator | None = None
) -> Blocks:
    """Split a text into blocks, and mark the context words of each center.

    Args:
        text: N' tokens; the last block is padded with positions without context.
        width: k, positions per block.
        window: m; a context has at most m words on each side, none of another sentence.
        generator: shuffles the blocks, and samples the window size of each center from 1 to m, as
            in word2vec, which gives near words more weight. None keeps the order, and every window
            has size m.

    Raises:
        ValueError: the text is empty.
    """
    width, window = int(width), int(window)  # a small NumPy integer type would overflow
    size = len(text.tokens)
    if not size:
        raise ValueError("text is empty; it must hold at least one token")
    rest = -size % width
    tokens = F.pad(text.tokens, (window, window + rest))
    sentence = F.pad(text.sentence, (window, window + rest), value=-1)  # -1: outside the text
    context = tokens.unfold(0, width + 2 * window, width)  # (N, k + 2m)
    around = sentence.unfold(0, width + 2 * window, width)[:, None]  # (N, 1, k + 2m)
    reach = torch.full((len(context), width, 1), window)
    if generator is not None:
        order = torch.randperm(len(context), generator=generator)
        context, around = context[order], around[order]
        reach = torch.randint(1, window + 1, reach.shape, generator=generator)
    inside = slice(window, window + width)
    own = around[:, 0, inside, None]  # (N, k, 1)
    place = torch.arange(width + 2 * window) - window
    distance = (place - torch.arange(width)[:, None]).abs()  # (k, k + 2m)
    near = (distance > 0) & (distance <= reach)
    return Blocks(context[:, inside], context, near & (own == around) & (own >= 0))


@accepts(text=TEXT, window=natural, batch_size=natural, seed=any_seed)
def windows(
    text: Text, *, window: int, batch_size: int, seed: int | None = None
) -> Iterator[Windows]:
    """Iterate once over all positions of a text that have at least one neighbour.

    Args:
        text: any text.
        window: m, as in `cut_blocks`.
        batch_size: positions per batch.
        seed: shuffles the positions and samples the window sizes; None keeps order and size m.

    Raises:
        ValueError: the text is empty.
    """
    generator = None if seed is None else torch.Generator().manual_seed(int(seed))
    blocks = cut_blocks(text, width=1, window=window, generator=generator)
    sides = torch.arange(2 * window + 1) != window  # the center is not in its own context
    context, mask = blocks.context[:, sides], blocks.band[:, 0, sides]
    rows = mask.any(1).nonzero()[:, 0]
    if generator is not None:
        rows = rows[torch.randperm(len(rows), generator=generator)]
    for chunk in rows.split(int(batch_size)):
        yield Windows(blocks.center[chunk, 0], context[chunk], mask[chunk])


def check_counts(counts: Tensor) -> None:
    """Reject anything but a (V,) tensor of counts with at least one above zero.

    Raises:
        TypeError, ValueError: with a message that says what counts must be.
    """
    anything("V", empty=False).check("counts", counts)
    if not counts.isfinite().all() or (counts < 0).any() or not counts.sum() > 0:
        raise ValueError("counts must be finite, not negative, and not all zero")
