"""Matrices as coloured cells: attention weights, scores, gates."""

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from gates2heads.accepts import accepts, listed, natural, strings
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import as_ends, as_labels, as_numbers, form, quantity, words
from gates2heads.figures.theme import DIVERGING, SEQUENTIAL, styled

PANEL = "(title, values, rows, columns)"


@accepts(
    rows=strings,
    columns=strings,
    xlabel=quantity,
    ylabel=quantity,
    value_label=quantity,
    title=words,
    annotate=form,
)
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
        rows, columns: R and C labels, such as tokens; counted from 0 where left out. They are in
            their order, from the left and from the top, also in Arabic, which a note then says.
        xlabel, ylabel, value_label: the meaning of columns, rows and colour, with units.
        title: shown above.
        limits: the values of the palest and the fullest colour; from the data where left out.
            Limits on both sides of zero give a two-coloured scale whose middle is zero.
        annotate: a format such as ".2f" to print every value in its cell.
    Returns:
        The figure.
    Raises:
        TypeError: the values are not numbers.
        ValueError: a wrong number of axes or labels, or a value that is not finite.
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


@accepts(
    panels=listed(PANEL, least=1),
    xlabel=quantity,
    ylabel=quantity,
    value_label=quantity,
    annotate=form,
    across=natural,
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
        TypeError, ValueError: as in `heatmap`.
    """
    drawn = [_as_panel(panel) for panel in panels]
    scale, colours = _colour_scale([values for _, values, _, _ in drawn], as_ends(limits, "limits"))
    across = min(across, len(drawn))
    down = -(-len(drawn) // across)
    with styled({"axes.grid": False}):
        figure = Figure(
            _grid_size(drawn, across, down, cell=0.5 if annotate else 0.24), layout="constrained"
        )
        axes = figure.subplots(down, across, squeeze=False).flatten()
        for axis, (title, values, rows, columns) in zip(axes, drawn, strict=False):
            # Thousands of cells need fewer bytes as a picture inside the SVG than as shapes.
            large = values.size > 3000
            mesh = axis.pcolormesh(values, norm=scale, cmap=colours, rasterized=large)
            _token_axes(axis, rows, columns)
            axis.set(title=title, xlabel=_label(xlabel, columns), ylabel=_label(ylabel, rows))
            if annotate:
                _annotate(axis, values, annotate)
        for axis in axes[len(drawn) :]:
            axis.set_axis_off()
        figure.colorbar(mesh, ax=axes.tolist(), label=value_label, shrink=0.9, aspect=30)
    return figure


def _as_panel(panel: Sequence) -> tuple[str, np.ndarray, list[str], list[str]]:
    """A title, a matrix of numbers, and a label for each of its rows and columns."""
    if not isinstance(panel, Sequence) or len(panel) != 4:
        raise TypeError(f"panels must hold {PANEL}, got {shown(panel)}")
    title, values, *labels = panel
    words.check("title", title)
    matrix = as_numbers(values, "values")
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"values must be a matrix (R, C), got shape {matrix.shape}")
    for name, given, size in zip(("rows", "columns"), labels, matrix.shape, strict=True):
        if given is not None:
            strings.check(name, given)
        if given is not None and len(given) != size:
            raise ValueError(f"{name} must hold {size} labels, got {len(given)}")
    rows, columns = (
        _counted(size) if given is None else as_labels(given)
        for given, size in zip(labels, matrix.shape, strict=True)
    )
    return title, matrix, rows, columns


def _counted(count: int) -> list[str]:
    """Number the positions, leaving out some if the numbers would overlap."""
    step = next(s for e in range(9) for s in (10**e, 2 * 10**e, 5 * 10**e) if count <= 20 * s)
    return [str(n) if n % step == 0 else "" for n in range(count)]


def _colour_scale(matrices: list[np.ndarray], limits: tuple[float, float] | None) -> tuple:
    low, high = limits or (min(m.min() for m in matrices), max(m.max() for m in matrices))
    if low < 0 < high:
        reach = max(-low, high)
        return Normalize(-reach, reach), DIVERGING
    return Normalize(low, high), SEQUENTIAL


def _grid_size(panels: list[tuple], across: int, down: int, cell: float) -> tuple[float, float]:
    tallest = max(len(values) for _, values, _, _ in panels)
    widest = max(values.shape[1] for _, values, _, _ in panels)
    width = min(7.6, max(4.2, across * (cell * widest + 1.2) + 0.9))
    return width, min(9.0, down * (0.24 * tallest + 1.1))


def _annotate(axis: Axes, values: np.ndarray, form: str) -> None:
    for (row, column), value in np.ndenumerate(values):
        place = (column + 0.5, row + 0.5)
        axis.text(*place, format(value, form), ha="center", va="center", fontsize=9)


def _label(name: str, labels: list[str]) -> str:
    """Add a note to right-to-left text that it is in the order of the model's input."""
    letters = "".join(labels)
    rightwards = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)
    return f"{name}\n(right-to-left text, first letter on the left)" if rightwards else name


def _token_axes(axis: Axes, rows: list[str], columns: list[str]) -> None:
    axis.invert_yaxis()
    axis.tick_params(length=0)
    axis.set_xticks(np.arange(len(columns)) + 0.5, columns)
    is_long = [len(label) > 3 and len(columns) > 5 for label in columns]
    mostly = 2 * sum(is_long) >= len(columns)  # then all labels are rotated
    for tick, long in zip(axis.get_xticklabels(), is_long, strict=True):
        tick.set_rotation(90 if long or (mostly and any(is_long)) else 0)
    axis.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_alpha(0.4)
