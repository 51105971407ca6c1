"""Arguments of figures: kinds of words, and numbers and labels as they are drawn."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser
from numpy.typing import ArrayLike
from torch import Tensor

from gates2heads.accepts import Call, Kind, mapping
from gates2heads.accepts.shown import shown

_UNWRITTEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, surrogates, line ends
_OFF_ONE = 1e-3  # of a row's sum; half precision, rounded once per weight, stays within it
_FORMULAS = MathTextParser("path")


@dataclass(frozen=True)
class Words(Kind):
    """Text that can be drawn in a figure; axis labels may not be empty."""

    empty: bool = True

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        """Reject text that cannot be drawn."""
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string, got {shown(value)}")
        if not self.empty and not value.strip():
            raise ValueError(f"{name} must name the quantity and its unit, got {shown(value)}")
        if not all(map(_can_be_written, value.replace("\n", ""))):
            raise ValueError(f"{name} must hold signs that can be printed, got {shown(value)}")
        if is_math_text(value):
            try:
                _FORMULAS.parse(value)
            except Exception as error:  # matplotlib's parser has its own errors
                raise ValueError(
                    f"{name} must hold a formula in its $…$, got {shown(value)}"
                ) from error


@dataclass(frozen=True)
class Form(Kind):
    """The format of a number, such as ".1%"; an empty text leaves it unformatted."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        """Reject invalid formats."""
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a format such as '.1%', got {shown(value)}")
        try:
            format(1, value)  # "d" and ".1%" alike
        except ValueError:
            raise ValueError(f"{name} must be a format such as '.1%', got {shown(value)}") from None


@dataclass(frozen=True)
class named(mapping):  # noqa: N801  (`series=named("names to pairs")` reads as it is meant)
    """A mapping whose keys are in a legend, or at an axis."""

    def check(self, name: str, value: Any, call: Call | None = None) -> None:
        """Reject anything but a mapping, and keys that cannot be drawn."""
        super().check(name, value, call)
        for key in value:
            words.check(f"{name}, in each name,", key)


words, form = Words(), Form()
quantity = Words(empty=False)


def as_numbers(values: ArrayLike, name: str, *, most: float = np.inf) -> np.ndarray:
    """A tensor or an array as finite float64 numbers.

    Raises:
        TypeError: these are not numbers.
        ValueError: a value is not finite, or beyond `most`; the message names the values.
    """
    try:
        array = np.asarray(values.detach().cpu().double() if isinstance(values, Tensor) else values)
    except ValueError as error:  # rows of several lengths
        raise TypeError(f"{name} must be numbers, got {shown(values)}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got {shown(values)}")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {(~np.isfinite(array)).sum()} that are not")
    if array.size and np.abs(array).max() > most:
        raise ValueError(f"{name} must be at most {most:g}, got {shown(values)}")
    return array


def as_number(value: float, name: str) -> float:
    """One finite number, also of a tensor.

    Raises:
        TypeError, ValueError: as in `as_numbers`, or there is more than one.
    """
    array = as_numbers(value, name)
    if array.size != 1:
        raise ValueError(f"{name} must be one number, got {shown(value)}")
    return float(array.reshape(()))


def as_ends(limits: tuple[float, float] | None, name: str) -> tuple[float, float] | None:
    """The two ends of an axis or of a scale of colours.

    Raises:
        TypeError, ValueError: these are not two numbers, the lower one first.
    """
    if limits is None:
        return None
    array = as_numbers(limits, name)
    if array.shape != (2,) or not array[0] < array[1]:
        raise ValueError(f"{name} must be two numbers, the lower one first, got {shown(limits)}")
    return float(array[0]), float(array[1])


def as_pair(values: Sequence, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Two lists of numbers, such as the x and the y of a line.

    Raises:
        TypeError, ValueError: there are more or fewer than two, or these are not numbers.
    """
    if isinstance(values, str | Mapping) or not hasattr(values, "__len__") or len(values) != 2:
        raise TypeError(f"{name} must be a pair, got {shown(values)}")
    return tuple(as_numbers(part, name) for part in values)


def as_labels(labels: Iterable[str]) -> list[str]:
    """Labels such as tokens as they are drawn: with visible spaces, without formulas."""
    return ["␣" if label == " " else seen(label).replace("$", r"\$") for label in labels]


def seen(words: str) -> str:
    """Words in one line; unprintable characters, such as line ends, are escaped."""
    return "".join(sign if _can_be_written(sign) else ascii(sign)[1:-1] for sign in words)


def _can_be_written(sign: str) -> bool:
    return unicodedata.category(sign) not in _UNWRITTEN and sign not in "\ufffe\uffff"


def check_shares(name: str, weights: np.ndarray) -> None:
    """Reject weights (…, S) with a negative entry or a row that does not sum to 1.

    Raises:
        ValueError: with the worst row.
    """
    if weights.min() < 0:
        raise ValueError(f"{name} must be at least 0, got {weights.min():.3g}")
    sums = weights.sum(axis=-1, dtype=np.float64).ravel()
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > _OFF_ONE:
        raise ValueError(
            f"{name} must have rows that sum to 1, row {worst} sums to {sums[worst]:.3f}"
        )


def check_series(names: Iterable[str], **uses: Iterable[str]) -> None:
    """Reject a figure without series, and references to missing series.

    Raises:
        ValueError: no series, or a name that no series has.
    """
    if not names:
        raise ValueError("there must be at least one series to draw, got none")
    for argument, used in uses.items():
        for name in used:
            if name not in names:
                some = ", ".join(map(shown, names))
                raise ValueError(f"{argument} must name a series of {some}, got {shown(name)}")
