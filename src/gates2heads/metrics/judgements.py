"""What people's judgements of outputs say: agreement beyond chance, and a test of preferences."""

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb
from typing import NamedTuple

from gates2heads.accepts import accepts, count, listed

__all__ = ["Agreed", "agreement", "sign_test"]

LABELS = listed("labels", least=1)


class Agreed(NamedTuple):
    """How often two judges agree, how often they would by chance, and Cohen's kappa.

    Attributes:
        observed: the share of items to which both gave the same label, 0 to 1.
        chance: the share expected if each judge kept the frequencies of their labels and dealt
            them out at random.
        kappa: (observed - chance) / (1 - chance); 1 if chance is 1, for then both gave one label.
    """

    observed: float
    chance: float
    kappa: float


@accepts(first=LABELS, second=LABELS)
def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreed:
    """Compare the labels that two judges gave to the same items.

    Source: Cohen 1960, equation 1.

    Args:
        first, second: N labels each, in the order of the items.
    Raises:
        ValueError: the judges labelled different numbers of items.
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


@accepts(wins=count(least=0), losses=count(least=0))
def sign_test(wins: int, losses: int) -> float:
    """Give the two-sided p-value of a comparison in pairs, ties left out.

    If neither system were better, each win would be the toss of a fair coin. The p-value is the
    probability that the tosses are split at least as unevenly as they were.

    Source: Dixon & Mood 1946.

    Args:
        wins, losses: in how many pairs the first system was preferred, and in how many the second.
    Returns:
        the probability, 1 where nothing was preferred.
    """
    tosses, most = wins + losses, max(wins, losses)
    tail = sum(comb(tosses, k) for k in range(most, tosses + 1))
    return min(1.0, 2 * tail / 2**tosses)
