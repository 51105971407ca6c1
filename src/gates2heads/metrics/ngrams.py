"""N-grams: counted, clipped and matched, for BLEU, chrF and ROUGE-N."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from torch import Tensor

from gates2heads.accepts import accepts, natural
from gates2heads.accepts.shown import shown

__all__ = ["clipped_matches", "count_ngrams", "most_in_any", "ngrams", "read_counts"]


@accepts(order=natural(most=math.inf))
def ngrams(tokens: Sequence, order: int) -> Iterator[tuple]:
    """Iterate over the n-grams of `order` adjacent tokens, from left to right.

    Args:
        tokens: a list or tuple of hashable tokens; a string is a sequence of characters.
        order: the n of n-gram, 1 or more.
    Returns:
        an iterator over tuples; of T tokens there are T - order + 1, or none.
    Raises:
        TypeError: tokens is not a string, list or tuple.
    """
    if not isinstance(tokens, str | list | tuple):
        raise TypeError(f"tokens must be a string, list or tuple, got {type(tokens).__name__}")
    if order > len(tokens):
        return iter(())
    return zip(*[tokens[start:] for start in range(order)], strict=False)


@accepts(order=natural(most=math.inf))
def count_ngrams(tokens: Sequence, order: int) -> Counter:
    """Count how often each n-gram occurs, c_w(s). Arguments and errors: see `ngrams`."""
    runs = ngrams(tokens, order)
    try:
        return Counter(runs)
    except TypeError as error:
        raise TypeError("tokens must be hashable, such as strings or numbers") from error


def most_in_any(counters: Iterable[Counter]) -> Counter:
    """For each n-gram, the largest count in any one reference: max over k of c_w(s_k)."""
    ceiling = Counter()
    for counts in counters:
        ceiling = ceiling | counts if ceiling else counts
    return ceiling


@accepts(order=natural(most=math.inf))
def clipped_matches(tokens: Sequence, order: int, ceiling: Counter) -> int:
    """Count the n-grams of the tokens that find a partner; each partner is used up by one match.

    That is the sum over w of min(c_w(x), ceiling of w), reached by crossing off: an n-gram that
    occurs more often than the ceiling allows finds no partner the next time.

    Args:
        tokens: of the hypothesis.
        order: the n of n-gram.
        ceiling: how often each n-gram may match.
    Returns:
        the number of matches, at most the number of n-grams.
    """
    left, matches = dict(ceiling), 0
    for ngram in ngrams(tokens, order):
        if left.get(ngram, 0) > 0:
            left[ngram] -= 1
            matches += 1
    return matches


def read_counts(total, wanted: int) -> list[int]:
    """Check summed statistics: `wanted` counts, each 0 or more.

    Raises:
        ValueError: their number is wrong, or one is negative, NaN or not a number.
    """
    if isinstance(total, Tensor):
        total = total.detach().cpu()
    try:
        total = np.asarray(total)
    except (TypeError, ValueError) as error:  # lists of unequal lengths, quantised tensors
        raise ValueError(f"total must hold {wanted} counts, got {shown(total)}") from error
    if total.shape != (wanted,):
        raise ValueError(f"total must hold {wanted} counts, got shape {total.shape}")
    if total.dtype.kind not in "iuf" or not (np.isfinite(total) & (total >= 0)).all():
        counts = shown(total.tolist())
        raise ValueError(f"total must hold finite counts of at least 0, got {counts}")
    return [int(count) for count in total]
