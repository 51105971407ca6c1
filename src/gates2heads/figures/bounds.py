"""Numbers that bound others: rounded so that the sentence stays true."""

import math

from gates2heads.accepts import accepts, count, number

__all__ = ["at_least", "at_most"]


def _rounded(value: float, places: int, towards) -> str:
    # 98.6 is 98.60000000000001 after a multiplication: not 98.7 at most
    steps = towards(round(value * 10**places, 6))
    return f"{steps / 10**places:,.{places}f}".replace("-", "−")


@accepts(value=number, places=count(least=0))
def at_least(value: float, places: int = 1) -> str:
    """A lower bound in words, rounded down: 1.768 is "1.7".

    Args:
        value: the bound, computed from unrounded numbers.
        places: how many decimal places are written.
    """
    return _rounded(value, places, math.floor)


@accepts(value=number, places=count(least=0))
def at_most(value: float, places: int = 1) -> str:
    """An upper bound in words, rounded up: 1.712 is "1.8"; arguments as for `at_least`."""
    return _rounded(value, places, math.ceil)
