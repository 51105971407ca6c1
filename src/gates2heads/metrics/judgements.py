"""Human judgements: agreement beyond chance, and a test of preferences."""

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb
from typing import NamedTuple

from gates2heads.accepts import accepts, listed, natural

__all__ = ["Agreed", "agreement", "sign_test"]

LABELS = listed("labels", least=1)


class Agreed(NamedTuple):
    """The observed agreement of two annotators, the expected one, and Cohen's kappa.

    Attributes:
        observed: the proportion of items with the same label from both, 0 to 1.
        chance: the expected proportion if each annotator assigned labels at random with the
            observed frequencies.
        kappa: (observed - chance) / (1 - chance); 1 if chance is 1, where both gave one label only.
    """

    observed: float
    chance: float
    kappa: float


@accepts(first=LABELS, second=LABELS)
def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreed:
    """Compare the labels that two annotators gave to the same items.

    Source: Cohen 1960, equation 1.

    Args:
        first, second: N labels each, in the order of the items.
    Raises:
        ValueError: the annotators labelled different numbers of items.
    """
    if len(first) != len(second):
        raise ValueError(
            f"first and second must have as many labels, got {len(first)} and {len(second)}"
        )
    items = len(first)
    same = sum(a == b for a, b in zip(first, second, strict=True))
    one, other = Counter(first), Counter(second)
    by_chance = sum(one[label] * other[label] for label in one)  # of items²
    if by_chance == items**2:
        return Agreed(1.0, 1.0, 1.0)
    kappa = (same * items - by_chance) / (items**2 - by_chance)
    return Agreed(same / items, by_chance / items**2, kappa)


@accepts(wins=natural(least=0), losses=natural(least=0))
def sign_test(wins: int, losses: int) -> float:
    """Compute the two-sided p-value of a sign test on pairs, without ties.

    Under the null hypothesis, each win has probability 1/2. The p-value is the probability of a
    split at least as uneven as the observed one.

    Source: Dixon & Mood 1946.

    Args:
        wins, losses: the numbers of pairs in which the first and the second system was preferred.
    Returns:
        the p-value, 1 if there were only ties.
    """
    tosses, most = wins + losses, max(wins, losses)
    tail = sum(comb(tosses, k) for k in range(most, tosses + 1))
    return min(1.0, 2 * tail / 2**tosses)
