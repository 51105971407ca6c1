"""N-grams: counted, clipped and compared. BLEU, chrF and ROUGE-N all stand on these few lines."""

from collections import Counter
from collections.abc import Iterable, Sequence

from gates2heads.metrics.checks import check_whole

__all__ = ["count_ngrams", "most_in_any", "overlap"]


def count_ngrams(tokens: Sequence, order: int) -> Counter:
    """Count the runs of `order` neighbouring tokens.

    Args:
        tokens: any sequence of hashable tokens; a string is a sequence of characters.
        order: the n of n-gram, 1 or more.
    Returns:
        a Counter from n-gram (a tuple) to how often it occurs.
    Raises:
        TypeError: tokens is no string, list or tuple.
        ValueError: order is no whole number of at least 1.
    """
    check_whole(order, "order")
    if not isinstance(tokens, str | list | tuple):
        raise TypeError(f"tokens must be a string, list or tuple, got {type(tokens).__name__}")
    shifted = [tokens[start:] for start in range(order)]
    return Counter(zip(*shifted, strict=False))


def most_in_any(counters: Iterable[Counter]) -> Counter:
    """Give for each n-gram the most that any one reference holds: max over k of c_w(s_k)."""
    ceiling = Counter()
    for counts in counters:
        ceiling = ceiling | counts if ceiling else counts
    return ceiling


def overlap(counts: Counter, ceiling: Counter) -> int:
    """Add up the clipped counts: the sum over w of min(c_w(x), ceiling of w)."""
    return sum(min(counts[ngram], ceiling[ngram]) for ngram in counts.keys() & ceiling.keys())
