"""Matrices as coloured cells: attention weights, scores, gates."""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from gates2heads.accepts.shown import shown
from gates2heads.checks.figures import (
    MOST,
    check_format,
    check_words,
    ends,
    label_words,
    named,
    numbers,
)
from gates2heads.checks.values import check_count, check_list
from gates2heads.display.theme import DIVERGING, SEQUENTIAL, styled


def heatmap(
    values: ArrayLike,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    xlabel: str,
    ylabel: str,
    value_label: str,
    title: str = "",
    limits: tuple[float, float] | None = None,
    annotate: str = "",
) -> Figure:
    """Draw a matrix as coloured cells, first row on top.

    Args:
        values: (R, C) numbers, finite.
        rows, columns: R and C labels, such as tokens; counted from 0 where left out. They stand
            in their order, from the left and from the top, also in Arabic; a word says so then.
        xlabel, ylabel, value_label: what the columns, the rows and the colour mean, with units.
        title: printed above.
        limits: the values of the palest and the fullest colour; from the data where left out.
            Limits on both sides of zero give a two-coloured scale whose middle is zero.
        annotate: a format such as ".2f" to print every value in its cell.
    Returns:
        The figure.
    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a wrong number of axes or labels, a value that is not finite, an empty label.
    """
    return alignment_grid(
        [(title, values, rows, columns)],
        xlabel=xlabel,
        ylabel=ylabel,
        value_label=value_label,
        limits=limits,
        annotate=annotate,
        across=1,
    )


def alignment_grid(
    panels: Iterable[tuple[str, ArrayLike, Sequence[str] | None, Sequence[str] | None]],
    *,
    xlabel: str,
    ylabel: str,
    value_label: str,
    limits: tuple[float, float] | None = None,
    annotate: str = "",
    across: int = 2,
) -> Figure:
    """Draw several matrices side by side under one colour scale.

    Args:
        panels: (title, values (R, C), R row labels or None, C column labels or None) for each.
        xlabel, ylabel, value_label, limits, annotate: as in `heatmap`.
        across: panels in a row.
    Returns:
        The figure.
    Raises:
        TypeError, ValueError: as in `heatmap`, or no panels.
    """
    named(xlabel=xlabel, ylabel=ylabel, value_label=value_label)
    check_count("across", across)
    check_format("annotate", annotate)
    limits, checked = ends(limits, "limits"), _check_panels(panels)
    scale, colours = _colour_scale([values for _, values, _, _ in checked], limits)
    across = min(across, len(checked))
    down = -(-len(checked) // across)
    with styled({"axes.grid": False}):
        figure = Figure(
            _grid_size(checked, across, down, cell=0.5 if annotate else 0.24), layout="constrained"
        )
        axes = figure.subplots(down, across, squeeze=False).flatten()
        for axis, (title, values, rows, columns) in zip(axes, checked, strict=False):
            # Thousands of cells are smaller as a picture inside the SVG than as shapes.
            large = values.size > 3000
            mesh = axis.pcolormesh(values, norm=scale, cmap=colours, rasterized=large)
            _token_axes(axis, rows, columns)
            names = {"xlabel": _told(xlabel, columns), "ylabel": _told(ylabel, rows)}
            axis.set(title=title, **names)
            if annotate:
                _annotate(axis, values, annotate)
        for axis in axes[len(checked) :]:
            axis.set_axis_off()
        figure.colorbar(mesh, ax=axes.tolist(), label=value_label, shrink=0.9, aspect=30)
    return figure


def _check_panels(panels: Iterable) -> list[tuple[str, np.ndarray, list[str], list[str]]]:
    check_list("panels", panels, of="(title, values, rows, columns)")
    checked = []
    for panel in islice(panels, MOST + 1):
        if not isinstance(panel, Sequence) or isinstance(panel, str) or len(panel) != 4:
            raise TypeError(f"panels must hold (title, values, rows, columns), got {shown(panel)}")
        title, *matrix = panel
        check_words("title", title)
        checked.append((title, *_matrix(*matrix)))
    if not 1 <= len(checked) <= MOST:
        number = "none" if not checked else f"more than {MOST}"
        raise ValueError(f"panels must hold at least one matrix and at most {MOST}, got {number}")
    return checked


def _matrix(
    values: ArrayLike, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[np.ndarray, list[str], list[str]]:
    matrix = numbers(values, "values")
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"values must be a matrix (R, C), got shape {matrix.shape}")
    labels = []
    for name, given, count in (("rows", rows, len(matrix)), ("columns", columns, matrix.shape[1])):
        labels.append(_counted(count) if given is None else label_words(name, given))
        if len(labels[-1]) != count:
            raise ValueError(f"{name} must hold {count} labels, got {len(labels[-1])}")
    return matrix, *labels


def _counted(count: int) -> list[str]:
    """Number the places, leaving out as many as must be for the numbers to have room."""
    step = next(s for e in range(9) for s in (10**e, 2 * 10**e, 5 * 10**e) if count <= 20 * s)
    return [str(n) if n % step == 0 else "" for n in range(count)]


def _colour_scale(matrices: list[np.ndarray], limits: tuple[float, float] | None) -> tuple:
    low, high = limits or (min(m.min() for m in matrices), max(m.max() for m in matrices))
    if low < 0 < high:
        reach = max(-low, high)
        return Normalize(-reach, reach), DIVERGING
    return Normalize(low, high), SEQUENTIAL


def _grid_size(checked: list[tuple], across: int, down: int, cell: float) -> tuple[float, float]:
    tallest = max(len(values) for _, values, _, _ in checked)
    widest = max(values.shape[1] for _, values, _, _ in checked)
    width = min(7.6, max(4.2, across * (cell * widest + 1.2) + 0.9))
    return width, min(9.0, down * (0.24 * tallest + 1.1))


def _annotate(axis: Axes, values: np.ndarray, form: str) -> None:
    for (row, column), value in np.ndenumerate(values):
        place = (column + 0.5, row + 0.5)
        axis.text(*place, format(value, form), ha="center", va="center", fontsize=9)


def _told(name: str, labels: list[str]) -> str:
    """Say beside right-to-left text that it stands in the order in which a model reads it."""
    letters = "".join(labels)
    rightwards = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)
    return f"{name}\n(right-to-left text, first letter first)" if rightwards else name


def _token_axes(axis: Axes, rows: list[str], columns: list[str]) -> None:
    axis.invert_yaxis()
    axis.tick_params(length=0)
    axis.set_xticks(np.arange(len(columns)) + 0.5, columns)
    for tick, label in zip(axis.get_xticklabels(), columns, strict=True):
        tick.set_rotation(90 if len(label) > 3 and len(columns) > 5 else 0)
    axis.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_alpha(0.4)
