"""The checks that every kind of figure makes of its arguments, one sentence each."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from gates2heads.checks.shown import shown


def numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Take a tensor or an array as finite float64 numbers.

    Raises:
        ValueError: a value is not finite; the sentence calls the values by name.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {(~np.isfinite(array)).sum()} that are not")
    return array


def named(**labels: str) -> None:
    """Require a text for each axis.

    Raises:
        ValueError: an empty label.
    """
    for name, label in labels.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"{name} must name the quantity and its unit, got {shown(label)}")


def known(names: Iterable[str], **uses: Iterable[str]) -> None:
    """Require that there are series, and that what refers to one names it.

    Raises:
        ValueError: no series, or a name that no series has.
    """
    if not names:
        raise ValueError("there must be at least one series to draw, got none")
    for argument, used in uses.items():
        for name in used:
            if name not in names:
                raise ValueError(
                    f"{argument} must name a series of {list(names)}, got {shown(name)}"
                )
