"""Arrays in, a figure out: the few kinds of picture that the chapters share.

Every axis is named with its unit; colours are told apart by colour-blind readers and doubled by
line style, hatch or marker. Nothing here trains or loads. `show` puts a figure on the page.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from gates2heads.display.theme import (
    DIVERGING,
    FIGURE_MIME,
    PALETTE,
    SEQUENTIAL,
    card_png,
    show,
    styled,
    themed_svg,
)

__all__ = [
    "FIGURE_MIME",
    "PALETTE",
    "alignment_grid",
    "bars",
    "card_png",
    "curve_panels",
    "curves",
    "heatmap",
    "show",
    "themed_svg",
]

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
_HATCHES = ("", "//", "..", "xx", "\\\\", "++")


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
        rows, columns: R and C labels, such as tokens; counted from 0 where left out.
        xlabel, ylabel, value_label: what the columns, the rows and the colour mean, with units.
        title: printed above.
        limits: the values of the palest and the fullest colour; from the data where left out.
            Limits on both sides of zero give a two-coloured scale whose middle is zero.
        annotate: a format such as ".2f" to print every value in its cell.
    Returns:
        The figure.
    Raises:
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
        ValueError: as in `heatmap`, or no panels.
    """
    _named(xlabel=xlabel, ylabel=ylabel, value_label=value_label)
    checked = [(title, *_matrix(values, rows, columns)) for title, values, rows, columns in panels]
    if not checked:
        raise ValueError("panels must hold at least one matrix, got none")
    scale, colours = _colour_scale([values for _, values, _, _ in checked], limits)
    across = min(across, len(checked))
    down = -(-len(checked) // across)
    with styled({"axes.grid": False}):
        figure = Figure(_grid_size(checked, across, down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False).flatten()
        for axis, (title, values, rows, columns) in zip(axes, checked, strict=False):
            mesh = axis.pcolormesh(values, norm=scale, cmap=colours)
            _token_axes(axis, rows, columns)
            axis.set(title=title, xlabel=xlabel, ylabel=ylabel)
            for (row, column), value in np.ndenumerate(values if annotate else np.empty((0, 0))):
                text = format(value, annotate)
                axis.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=9)
        for axis in axes[len(checked) :]:
            axis.set_axis_off()
        figure.colorbar(mesh, ax=axes.tolist(), label=value_label, shrink=0.9, aspect=30)
    return figure


def curves(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    ylabel: str,
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    points: Iterable[str] = (),
    verticals: Mapping[str, float] | None = None,
    horizontals: Mapping[str, float] | None = None,
    log: str = "",
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str = "",
) -> Figure:
    """Draw lines and point clouds over a common axis.

    Args:
        series: name → (x (N,), y (N,)); the name goes to the legend.
        xlabel, ylabel: what the axes mean, with units.
        bands: name of a series → (low (N,), high (N,)), shaded around its line.
        points: names of the series drawn as points without a line, such as measurements.
        verticals, horizontals: label → position of a thin reference line.
        log: which axes are logarithmic: "", "x", "y" or "xy".
        xlim, ylim: the ends of the axes.
        title: printed above.
    Returns:
        The figure.
    Raises:
        ValueError: no series, unequal lengths, or a name in bands or points that no series has.
    """
    return curve_panels(
        {title: series},
        xlabel=xlabel,
        ylabel=ylabel,
        bands=bands,
        points=points,
        verticals=verticals,
        horizontals=horizontals,
        log=log,
        xlim=xlim,
        ylim=ylim,
    )


def curve_panels(
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]],
    *,
    xlabel: str,
    ylabel: str,
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    points: Iterable[str] = (),
    verticals: Mapping[str, float] | None = None,
    horizontals: Mapping[str, float] | None = None,
    log: str = "",
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Draw several `curves` side by side on shared axes; a name keeps its colour in all of them.

    Args:
        panels: title → series, as in `curves`.
        xlabel, ylabel, bands, points, verticals, horizontals, log, xlim, ylim: as in `curves`.
    Returns:
        The figure.
    Raises:
        ValueError: as in `curves`.
    """
    _named(xlabel=xlabel, ylabel=ylabel)
    bands, points = dict(bands or {}), set(points)
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    _known(names, bands=bands, points=points)
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f'log must be "", "x", "y" or "xy", got {log!r}')
    with styled():
        figure = Figure((5.8 if len(panels) == 1 else 7.2, 3.5), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axis, (title, series) in zip(axes, panels.items(), strict=True):
            for name, (x, y) in series.items():
                look = {"index": names.index(name), "cloud": name in points}
                _line(axis, name, x, y, band=bands.get(name), **look)
            _references(axis, verticals or {}, horizontals or {})
            axis.set(title=title, xlabel=xlabel, xlim=xlim, ylim=ylim)
            axis.set(xscale="log" if "x" in log else "linear")
            axis.set(yscale="log" if "y" in log else "linear")
        axes[0].set_ylabel(ylabel)
        if len(names) > 1 or points:
            _legend(figure, axes)
    return figure


def bars(
    groups: Mapping[str, Mapping[str, float]],
    *,
    xlabel: str,
    ylabel: str,
    errors: Mapping[str, Mapping[str, float]] | None = None,
    value_format: str = "",
    ylim: tuple[float, float] | None = None,
    title: str = "",
) -> Figure:
    """Draw bars side by side, one colour and hatch for each series.

    Args:
        groups: series name → {category: value}; every series has the same categories.
        xlabel, ylabel: what the categories and the heights mean, with units.
        errors: series name → {category: half length of the error bar}.
        value_format: a format such as ".1%" to print every value above its bar.
        ylim: the ends of the value axis.
        title: printed above.
    Returns:
        The figure.
    Raises:
        ValueError: no series, or series whose categories differ.
    """
    _named(xlabel=xlabel, ylabel=ylabel)
    _known(groups, errors=errors or {})
    categories = list(next(iter(groups.values())))
    for name, values in groups.items():
        if list(values) != categories:
            raise ValueError(f"groups must share the categories {categories}, {name!r} differs")
    width = 0.8 / len(groups)
    with styled({"axes.grid.axis": "y", "hatch.linewidth": 0.6}):
        figure = Figure((5.8, 3.5), layout="constrained")
        axis = figure.subplots()
        for index, (name, values) in enumerate(groups.items()):
            places = np.arange(len(categories)) + (index - (len(groups) - 1) / 2) * width
            error = (errors or {}).get(name)
            drawn = axis.bar(
                places,
                list(values.values()),
                width * 0.92,
                label=name,
                color=PALETTE[index % len(PALETTE)],
                hatch=_HATCHES[index % len(_HATCHES)],
                edgecolor="black",
                linewidth=0.6,
                yerr=[error[category] for category in categories] if error else None,
                capsize=3,
            )
            if value_format:
                axis.bar_label(drawn, fmt=f"{{:{value_format}}}", padding=2, fontsize=9)
        axis.set_xticks(range(len(categories)), categories)
        axis.set(title=title, xlabel=xlabel, ylabel=ylabel, ylim=ylim)
        if len(groups) > 1:
            _legend(figure, [axis])
    return figure


def _numbers(values: ArrayLike, name: str) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, got {(~np.isfinite(numbers)).sum()} that are not")
    return numbers


def _named(**labels: str) -> None:
    for name, label in labels.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"{name} must name the quantity and its unit, got {label!r}")


def _known(names: Iterable[str], **uses: Iterable[str]) -> None:
    if not names:
        raise ValueError("there must be at least one series to draw, got none")
    for argument, used in uses.items():
        for name in used:
            if name not in names:
                raise ValueError(f"{argument} must name a series of {list(names)}, got {name!r}")


def _matrix(
    values: ArrayLike, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[np.ndarray, list[str], list[str]]:
    matrix = _numbers(values, "values")
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"values must be a matrix (R, C), got shape {matrix.shape}")
    labels = []
    for name, given, count in (("rows", rows, len(matrix)), ("columns", columns, matrix.shape[1])):
        labels.append([str(n) for n in range(count)] if given is None else list(given))
        if len(labels[-1]) != count:
            raise ValueError(f"{name} must hold {count} labels, got {len(labels[-1])}")
    return matrix, *labels


def _colour_scale(matrices: list[np.ndarray], limits: tuple[float, float] | None) -> tuple:
    low, high = limits or (min(m.min() for m in matrices), max(m.max() for m in matrices))
    if low < 0 < high:
        reach = max(-low, high)
        return Normalize(-reach, reach), DIVERGING
    return Normalize(low, high), SEQUENTIAL


def _grid_size(checked: list[tuple], across: int, down: int) -> tuple[float, float]:
    tallest = max(len(values) for _, values, _, _ in checked)
    widest = max(values.shape[1] for _, values, _, _ in checked)
    width = min(7.6, max(4.2, across * (0.24 * widest + 1.2) + 0.9))
    return width, min(9.0, down * (0.24 * tallest + 1.1))


def _token_axes(axis: Axes, rows: list[str], columns: list[str]) -> None:
    axis.invert_yaxis()
    axis.tick_params(length=0)
    # Space is a token like others and must be seen.
    rows, columns = ([label.replace(" ", "␣") for label in labels] for labels in (rows, columns))
    slanted = max(map(len, columns)) > 3 and len(columns) > 5
    axis.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=90 if slanted else 0)
    axis.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_alpha(0.4)


def _line(axis: Axes, name: str, x, y, *, index: int, cloud: bool, band) -> None:
    x, y = _numbers(x, f"x of {name!r}"), _numbers(y, f"y of {name!r}")
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"series {name!r} must be two equal lists, got {x.shape} and {y.shape}")
    look = {"color": PALETTE[index % len(PALETTE)], "label": name}
    if cloud:
        axis.plot(x, y, _MARKERS[index % len(_MARKERS)], markersize=4, alpha=0.75, **look)
        return
    few = {"marker": _MARKERS[index % len(_MARKERS)], "markersize": 4} if len(x) <= 16 else {}
    axis.plot(x, y, linestyle=_LINES[index % len(_LINES)], **few, **look)
    if band is not None:
        low, high = (_numbers(edge, f"band of {name!r}") for edge in band)
        axis.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)


def _references(
    axis: Axes, verticals: Mapping[str, float], horizontals: Mapping[str, float]
) -> None:
    look = {"color": "black", "alpha": 0.6, "linewidth": 1.0, "linestyle": (0, (3, 3))}
    for label, place in verticals.items():
        axis.axvline(place, **look)
        at = {"xy": (place, 1), "xycoords": axis.get_xaxis_transform(), "va": "top"}
        axis.annotate(label, **at, xytext=(3, -2), textcoords="offset points", fontsize=9)
    for label, place in horizontals.items():
        axis.axhline(place, **look)
        at = {"xy": (1, place), "xycoords": axis.get_yaxis_transform(), "ha": "right"}
        axis.annotate(label, **at, xytext=(-2, 3), textcoords="offset points", fontsize=9)


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    entries = {}
    for axis in axes:
        entries |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    # Outside, where it hides no data and stays when the data move.
    figure.legend(
        entries.values(), entries.keys(), loc="outside upper center", ncols=min(3, len(entries))
    )
