"""Numbers, words and flags that a caller chooses: a wrong one gets a sentence that names it."""

import math
import sys
from collections.abc import Collection, Iterable
from numbers import Integral, Real

import numpy as np
import torch

from gates2heads.accepts.shown import shown

MOST = 2**31 - 1  # no axis, loop or number of a token is larger
LARGEST = sys.float_info.max
LARGEST_SINGLE = float(np.finfo(np.float32).max)  # what weights and their optimizers can hold
SEEDS = (-(2**63), 2**64 - 1)  # what torch's generators take


def check_count(name: str, value: int, *, least: int = 1, most: float = MOST) -> None:
    """Refuse what is not a whole number from `least` to `most`.

    Raises:
        TypeError: the value is no whole number.
        ValueError: it is outside the bounds.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    if not least <= value <= most:
        low = value < least and most >= MOST  # then the upper bound is no news
        bounds = f"at least {least}" if low else f"from {least} to {most}"
        raise ValueError(f"{name} must be {bounds}, got {shown(value)}")


def check_seed(name: str, value: int) -> None:
    """Refuse what no random generator can begin with.

    Raises:
        TypeError: the value is no whole number.
        ValueError: it has more than 64 bits.
    """
    check_count(name, value, least=SEEDS[0], most=SEEDS[1])


def distinct_seed(seed: int) -> int:
    """A seed for Python's own generator, which forgets the sign and takes no NumPy integer.

    A negative one stands for what it is in 64 bits, as in PyTorch's generators.
    """
    return int(seed) % 2**64


def check_number(
    name: str, value: float, *, least: float = -math.inf, most: float = LARGEST
) -> None:
    """Refuse what is not a finite number from `least` to `most`.

    Raises:
        TypeError: the value is no number.
        ValueError: it is outside the bounds, infinite or NaN.
    """
    value = _real(name, value)
    if not max(least, -LARGEST) <= value <= most:
        bound = "" if least == -math.inf else f" and at least {least:g}"
        bound += f" and at most {most:g}" if most < value < math.inf else ""
        raise ValueError(f"{name} must be finite{bound}, got {shown(value)}")


def check_positive(name: str, value: float, *, most: float = LARGEST) -> None:
    """Refuse what is not a finite number above zero, up to `most`.

    Raises:
        TypeError: the value is no number.
        ValueError: it is zero, negative, beyond `most`, infinite or NaN.
    """
    value = _real(name, value)
    if not 0 < value <= most:
        bound = f"at most {most:g}" if most < value < math.inf else "finite"
        raise ValueError(f"{name} must be positive and {bound}, got {shown(value)}")


def check_share(name: str, value: float) -> None:
    """Refuse what is not a number from 0 to 1, of a kind that PyTorch's dropout takes.

    Raises:
        TypeError: the value is no number, or a fraction.
        ValueError: it is outside [0, 1], or NaN.
    """
    value = _real(name, value)
    if not isinstance(value, int | float):
        raise TypeError(f"{name} must be a float, got {shown(value)}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {shown(value)}")


def check_flag(name: str, value: bool) -> None:
    """Refuse what is neither True nor False.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a word that is not among the choices.

    Raises:
        ValueError: with the choices.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {shown(value)}")


def check_list(name: str, values: Iterable, *, of: str = "values") -> None:
    """Refuse what cannot be gone through, and a string, whose parts would be characters.

    Raises:
        TypeError: with a sentence that says what should be in the list.
    """
    single = getattr(values, "ndim", 1) == 0  # a tensor or array without axes
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or single:
        raise TypeError(f"{name} must be a list of {of}, got {shown(values)}")


def check_texts(name: str, texts: Collection[str]) -> None:
    """Refuse what is not a list of strings.

    Raises:
        TypeError: with the first that is none.
    """
    check_list(name, texts, of="strings")
    if not isinstance(texts, Collection):  # a generator would be used up by the look at it
        raise TypeError(f"{name} must be a list of strings, got {shown(texts)}")
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a list of strings, got {shown(text)} in it")


def check_text(name: str, text: str) -> None:
    """Refuse what is no string, and half a character in one; an empty string is a text too.

    Raises:
        TypeError: it is no string.
        ValueError: as in `check_characters`.
    """
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, got {shown(text)}")
    check_characters(name, text)


def check_characters(name: str, text: str) -> None:
    """Refuse half a character, which has no bytes; Python reads such from broken files and JSON.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half, place = shown(text[error.start]), error.start
        raise ValueError(
            f"{name} must hold whole characters, got {half}, half of one, at {place}"
        ) from None


def check_generator(generator: torch.Generator | None) -> None:
    """Refuse what is neither None nor a generator of torch.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if not isinstance(generator, torch.Generator | None):
        raise TypeError(f"generator must be a torch.Generator, got {type(generator).__name__}")


def _real(name: str, value: float) -> float:
    """The number itself; NumPy's small ones cannot be compared with the largest."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    return value.item() if isinstance(value, np.generic) else value
