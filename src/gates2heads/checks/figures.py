"""The checks that every kind of figure makes of its arguments, one sentence each."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from numpy.typing import ArrayLike
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.values import check_list

LARGEST = 1e100  # beyond it, the distance of two numbers or a power of ten is too large to draw
MOST = 100  # series, panels or categories: more cannot be told apart
_UNWRITTEN = ("Cc", "Cs", "Zl", "Zp")  # control signs, halves of signs, ends of lines
_OFF_ONE = 1e-3  # of a row's sum; half precision, rounded once per weight, stays within it
_FORMULAS = MathTextParser("path")


def numbers(values: ArrayLike, name: str, *, most: float = LARGEST) -> np.ndarray:
    """Take a tensor or an array as finite float64 numbers.

    Raises:
        TypeError: these are no numbers.
        ValueError: a value is not finite, or beyond `most`; the sentence calls the values by name.
    """
    try:
        given = values.detach().cpu().double() if isinstance(values, Tensor) else values
        array = np.asarray(given)
        if array.dtype.kind == "O" and not _holds_words(array):  # such as whole numbers of any size
            array = array.astype(float)
    except Exception as error:  # whatever the caller's own class raises
        raise TypeError(f"{name} must be numbers, got {shown(values)}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got {shown(values)}")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {(~np.isfinite(array)).sum()} that are not")
    if array.size and np.abs(array).max() > most:
        raise ValueError(f"{name} must be at most {most:g} to be drawn, got {shown(values)}")
    return array


def _holds_words(array: np.ndarray) -> bool:
    return any(isinstance(value, str | bytes) for value in array.ravel())


def check_shares(name: str, weights: np.ndarray) -> None:
    """Refuse weights (…, S) of which a row is negative somewhere or does not sum to 1.

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


def number(value: float, name: str) -> float:
    """Take one finite number.

    Raises:
        TypeError, ValueError: as in `numbers`, or there is more than one.
    """
    array = numbers(value, name)
    if array.size != 1:
        raise ValueError(f"{name} must be one number, got {shown(value)}")
    return float(array.reshape(()))


def ends(limits: tuple[float, float] | None, name: str) -> tuple[float, float] | None:
    """Take the two ends of an axis or of a scale of colours.

    Raises:
        TypeError, ValueError: these are no two numbers, the lower one first.
    """
    if limits is None:
        return None
    array = numbers(limits, name)
    if array.shape != (2,) or not array[0] < array[1]:
        raise ValueError(f"{name} must be two numbers, the lower one first, got {shown(limits)}")
    return float(array[0]), float(array[1])


def named(**labels: str) -> None:
    """Require a text for each axis.

    Raises:
        ValueError: an empty label.
    """
    for name, label in labels.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"{name} must name the quantity and its unit, got {shown(label)}")
        check_words(name, label)


def check_words(name: str, words: str) -> None:
    """Refuse what cannot be written into a figure; an empty text can.

    Raises:
        TypeError: it is no text.
        ValueError: it holds signs that no font has, or a formula that is none.
    """
    if not isinstance(words, str):
        raise TypeError(f"{name} must be a text, got {shown(words)}")
    if not all(map(_can_be_written, words.replace("\n", ""))):
        raise ValueError(f"{name} must hold signs that can be printed, got {shown(words)}")
    if is_math_text(words):
        try:
            _FORMULAS.parse(words)
        except Exception as error:  # matplotlib's parser has errors of its own
            raise ValueError(
                f"{name} must hold a formula in its $…$, got {shown(words)}"
            ) from error


def label_words(name: str, labels: Iterable[str]) -> list[str]:
    """Take labels such as tokens, which are shown as they are: blanks seen, no formulas.

    Raises:
        TypeError: it is no list of texts.
    """
    check_list(name, labels, of="labels")
    listed = list(labels)
    for label in listed:
        if not isinstance(label, str):
            raise TypeError(f"{name} must be a list of texts, got {shown(label)} in it")
    return ["␣" if label == " " else seen(label).replace("$", r"\$") for label in listed]


def seen(words: str) -> str:
    """Words in one line; what no page can show, such as the end of a line, is spelled out."""
    return "".join(sign if _can_be_written(sign) else ascii(sign)[1:-1] for sign in words)


def _can_be_written(sign: str) -> bool:
    return unicodedata.category(sign) not in _UNWRITTEN and sign not in "\ufffe\uffff"


def check_format(name: str, form: str) -> None:
    """Refuse what does not say how a number is written; an empty text does.

    Raises:
        TypeError: it is no text.
        ValueError: Python knows no such format, or it has hundreds of digits.
    """
    if not isinstance(form, str):
        raise TypeError(f"{name} must be a format such as '.1%', got {shown(form)}")
    try:
        known_format = not re.search(r"\d{3}", form) and bool(format(1, form))  # "d" and ".1%"
    except ValueError:
        known_format = False
    if form and not known_format:
        raise ValueError(f"{name} must be a format such as '.1%', got {shown(form)}")


def check_names(name: str, values: Mapping[str, Any], of: str) -> None:
    """Refuse what does not map a few names, as they stand in a legend, to something.

    Raises:
        TypeError: it is no mapping, or a name is no text.
        ValueError: there are too many, or a name cannot be written.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must map names to {of}, got {shown(values)}")
    if len(values) > MOST:
        raise ValueError(f"{name} must be at most {MOST} to be told apart, got {len(values)}")
    for key in values:
        check_words(f"each name in {name}", key)


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
                some = ", ".join(map(shown, islice(names, 7)))
                raise ValueError(f"{argument} must name a series of {some}, got {shown(name)}")


def as_figure(figure: Figure) -> Figure:
    """The figure itself.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(figure, Figure):
        raise TypeError(f"figure must be a matplotlib Figure, got {type(figure).__name__}")
    return figure


def check_pair(name: str, value: Sequence) -> None:
    """Refuse what is not two things, such as the x and the y of a line.

    Raises:
        TypeError: with a sentence that names the argument.
    """
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or len(value) != 2:
        raise TypeError(f"{name} must be a pair, got {shown(value)}")
