"""Checks of the numbers that a caller passes: one clear sentence that names the argument."""

from numbers import Integral, Real


def check_count(name: str, value: int, *, least: int = 1) -> None:
    """Refuse what is not a whole number of at least `least`.

    Raises:
        TypeError: the value is no whole number.
        ValueError: it is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above zero.

    Raises:
        TypeError: the value is no number.
        ValueError: it is zero, negative, infinite or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be positive and finite, got {value}")


def check_share(name: str, value: float) -> None:
    """Refuse what is not a number from 0 to 1.

    Raises:
        TypeError: the value is no number.
        ValueError: it is outside [0, 1], or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
