"""Numbers that a caller chooses, checked: a wrong one gets a sentence that names it."""

import math

import numpy as np


def check_whole(value: int, name: str, *, least: int = 1) -> None:
    """Refuse what is no whole number of at least `least`.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_number(value: float, name: str, *, above: float = -math.inf, least: float = 0.0) -> None:
    """Refuse what is no finite number of at least `least` and above `above`.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    if not isinstance(value, int | float) or not (least <= value < math.inf and value > above):
        bound = f"above {above:g}" if above >= least else f"of at least {least:g}"
        raise ValueError(f"{name} must be a finite number {bound}, got {value!r}")


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
