"""Bounds, rounded so that the sentence remains true."""

import math

from gates2heads.accepts import accepts, choice, natural, number

__all__ = ["at_least", "at_most", "outwards"]


@accepts(value=number, places=natural(least=0), side=choice(("least", "most")))
def outwards(value: float, places: int, side: str) -> float:
    """Round a bound so that it remains one: down for "at least", up for "at most".

    Args:
        value: the bound, computed from unrounded numbers.
        places: the number of decimal places.
        side: "least" or "most".
    """
    towards = {"least": math.floor, "most": math.ceil}[side]
    # 98.6 is 98.60000000000001 after a multiplication: not 98.7 at most
    return towards(round(value * 10**places, 6)) / 10**places


def _written(value: float, places: int) -> str:
    return f"{value:,.{places}f}".replace("-", "−")


@accepts(value=number, places=natural(least=0))
def at_least(value: float, places: int = 1) -> str:
    """A lower bound in words, rounded down: 1.768 is "1.7".

    Args:
        value: the bound, computed from unrounded numbers.
        places: the number of decimal places.
    """
    return _written(outwards(value, places, "least"), places)


@accepts(value=number, places=natural(least=0))
def at_most(value: float, places: int = 1) -> str:
    """An upper bound in words, rounded up: 1.712 is "1.8"; arguments as for `at_least`."""
    return _written(outwards(value, places, "most"), places)
