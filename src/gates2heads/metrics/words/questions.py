"""Neighbours, differences and analogies of word vectors, and a map in two dimensions."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, flag, floats, instance, natural, strings
from gates2heads.accepts.shown import shown
from gates2heads.metrics.words.vectors import WordVectors

MOST_WORDS = 3
GOAL = "b − a + c"  # the point of the map that is not a word


class WordAnswer(NamedTuple):
    """The answer to a query of one to three words."""

    asked: tuple[str, ...]
    cosines: tuple[float, ...]  # between each two of the query words: ab, ac, bc
    found: tuple[tuple[tuple[str, float], ...], ...]  # lists of (word, cosine), best first
    points: tuple[str, ...]  # the points of the map: query words, `GOAL` for three, found words
    places: Tensor  # (N, 2), the coordinates of each point
    shares: tuple[float, float]  # the proportion of variance that each axis explains


@accepts(vectors=floats("N D"))
def flat_map(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Project vectors onto their first two principal components.

    The sign of an axis is arbitrary; here its farthest point is on the positive side.

    Args:
        vectors: (N, D).

    Returns:
        coordinates (N, 2), around their mean, and shares (2,): the proportion of the variance that
        each axis explains; 0 where all vectors are equal.

    Raises:
        ValueError: there are none, or one is not finite.
    """
    if not len(vectors) or not vectors.isfinite().all():
        raise ValueError(f"vectors must be finite, of shape (N, D), got {tuple(vectors.shape)}")
    centred = vectors.double() - vectors.double().mean(0)
    values, axes = torch.linalg.eigh(centred @ centred.T)  # (N,) rising, (N, N)
    values = F.pad(values.clamp(min=0), (2, 0))[-2:].flip(0)  # the two largest
    axes = F.pad(axes, (2, 0))[:, -2:].flip(1)
    farthest = axes.gather(0, axes.abs().argmax(0, keepdim=True))  # (1, 2)
    places = axes * values.sqrt() * torch.where(farthest < 0, -1, 1)
    return places, values / centred.square().sum().clamp_min(1e-300)


@accepts(vectors=instance(WordVectors), words=strings(least=1), count=natural, exclude=flag)
def ask_words(
    vectors: WordVectors, words: Sequence[str], *, count: int = 10, exclude: bool = True
) -> WordAnswer:
    """Find one word's neighbours, the difference of two words, or an analogy of three.

    Args:
        vectors: of all words.
        words: one: its nearest words. Two, a and b: the words nearest to b − a, and those nearest
            to a − b. Three: the words nearest to b − a + c.
        count: the number of words in a list.
        exclude: leave out the query words; a single one is always left out.

    Raises:
        ValueError: a word has no vector, or there are more than three.
    """
    if len(words) > MOST_WORDS:
        raise ValueError(f"words must be one, two or three, got {len(words)}")
    for word in words:
        if word not in vectors:
            count = len(vectors.words)
            raise ValueError(f"words must be among the {count} known, got {shown(word)}")
    a, b, c = (*words, None, None)[:MOST_WORDS]
    units = {word: vectors.unit_vector(word) for word in words}
    goal = {}
    if c is not None:
        found = [vectors.analogy(a, b, c, count, exclude=exclude)]
        goal = {GOAL: F.normalize(units[b] - units[a] + units[c], dim=0)}
    elif b is not None:
        ways = ((a, b), (b, a))
        found = [vectors.towards(*way, count, exclude=exclude) for way in ways]
    else:
        found = [vectors.nearest(a, count)]
    new = [word for answers in found for word, _ in answers]
    points = units | goal | {word: vectors.unit_vector(word) for word in new}
    places, shares = flat_map(torch.stack(list(points.values())))
    pairs = [(a, b), (a, c), (b, c)]
    cosines = [float(units[x] @ units[y]) for x, y in pairs if x is not None and y is not None]
    lists = tuple(tuple(one) for one in found)
    parts = tuple(words), tuple(cosines), lists, tuple(points), places
    return WordAnswer(*parts, tuple(shares.tolist()))
