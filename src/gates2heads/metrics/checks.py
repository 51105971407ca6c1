"""Numbers, words and flags that a caller chooses: a wrong one gets a sentence that names it."""

import math
from collections.abc import Collection

import numpy as np


def check_whole(value: int, name: str, *, least: int = 1, most: float = math.inf) -> None:
    """Refuse what is no whole number from `least` to `most`.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be a whole number {bounds}, got {value!r}")


def check_number(value: float, name: str, *, above: float = -math.inf, least: float = 0.0) -> None:
    """Refuse what is no finite number of at least `least` and above `above`.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    if not isinstance(value, int | float) or not (least <= value < math.inf and value > above):
        bound = f"above {above:g}" if above >= least else f"of at least {least:g}"
        raise ValueError(f"{name} must be a finite number {bound}, got {value!r}")


def check_flag(value: bool, name: str) -> None:
    """Refuse what is neither True nor False.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def check_choice(value: str, name: str, choices: Collection[str]) -> None:
    """Refuse a word that is not among the choices.

    Raises:
        ValueError: with the choices.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}")


def check_counts(total, wanted: int) -> list[int]:
    """Read summed statistics: `wanted` counts, each 0 or more.

    Raises:
        ValueError: their number is wrong, or one is negative, NaN or no number.
    """
    total = np.asarray(total)
    if total.shape != (wanted,):
        raise ValueError(f"total must hold {wanted} counts, got shape {total.shape}")
    if total.dtype.kind not in "iuf" or not (np.isfinite(total) & (total >= 0)).all():
        raise ValueError(f"total must hold finite counts of at least 0, got {total.tolist()}")
    return [int(count) for count in total]
