"""Numbers, words and flags that a caller chooses: a wrong one gets a sentence that names it."""

import math
from collections.abc import Collection
from numbers import Integral, Real


def check_count(name: str, value: int, *, least: int = 1, most: float = math.inf) -> None:
    """Refuse what is not a whole number from `least` to `most`.

    Raises:
        TypeError: the value is no whole number.
        ValueError: it is outside the bounds.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r:.60}")
    if not least <= value <= most:
        bounds = f"at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be {bounds}, got {value}")


def check_number(name: str, value: float, *, least: float = -math.inf) -> None:
    """Refuse what is not a finite number of at least `least`.

    Raises:
        TypeError: the value is no number.
        ValueError: it is smaller, infinite or NaN.
    """
    _check_real(name, value)
    if not (math.isfinite(value) and value >= least):
        bound = "" if least == -math.inf else f" and at least {least:g}"
        raise ValueError(f"{name} must be finite{bound}, got {value}")


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above zero.

    Raises:
        TypeError: the value is no number.
        ValueError: it is zero, negative, infinite or NaN.
    """
    _check_real(name, value)
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value}")


def check_share(name: str, value: float) -> None:
    """Refuse what is not a number from 0 to 1.

    Raises:
        TypeError: the value is no number.
        ValueError: it is outside [0, 1], or NaN.
    """
    _check_real(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


def check_flag(name: str, value: bool) -> None:
    """Refuse what is neither True nor False.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r:.60}")


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a word that is not among the choices.

    Raises:
        ValueError: with the choices.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r:.60}")


def _check_real(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
