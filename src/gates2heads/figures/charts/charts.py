"""Curves, points and bars over named axes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from gates2heads.accepts import accepts, choice, strings
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import (
    as_ends,
    as_number,
    as_pair,
    check_series,
    form,
    named,
    quantity,
    words,
)
from gates2heads.figures.theme import PALETTE, styled

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
_HATCHES = ("", "//", "..", "xx", "\\\\", "++")


@accepts(series=named("names to pairs (x, y)"), xlabel=quantity, ylabel=quantity, title=words)
def curves(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    **options: object,
) -> Figure:
    """Draw lines and point clouds over a common axis.

    Args:
        series: name → (x (N,), y (N,)); the name is in the legend.
        xlabel, ylabel: the meaning of the axes, with units.
        title: shown above.
        options: bands, points, verticals, horizontals, log, xlim, ylim, as in `curve_panels`.
    Returns:
        The figure.
    Raises:
        TypeError: anything but a pair of lists of numbers.
        ValueError: no series, unequal lengths, a name in bands or points that no series has, or
            a number that is not finite, or has no logarithm where it needs one.
    """
    return curve_panels({title: series}, xlabel=xlabel, ylabel=ylabel, **options)


@accepts(
    panels=named("titles to series"),
    xlabel=quantity,
    ylabel=quantity,
    bands=named("names to pairs (low, high)"),
    points=strings,
    verticals=named("labels to positions"),
    horizontals=named("labels to positions"),
    log=choice(("", "x", "y", "xy")),
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
        panels: title → series, each name → (x (N,), y (N,)).
        xlabel, ylabel: the meaning of the axes, with units.
        bands: name of a series → (low (N,), high (N,)), shaded around its line.
        points: names of the series drawn as points without a line, such as measurements.
        verticals, horizontals: label → position of a thin reference line.
        log: which axes are logarithmic: "", "x", "y" or "xy".
        xlim, ylim: the ends of the axes.
    Returns:
        The figure.
    Raises:
        TypeError, ValueError: as in `curves`.
    """
    xlim, ylim = as_ends(xlim, "xlim"), as_ends(ylim, "ylim")
    lines = {title: _as_lines(title, series) for title, series in panels.items()}
    bands = {name: as_pair(band, f"bands[{shown(name)}]") for name, band in (bands or {}).items()}
    verticals = _as_places("verticals", verticals)
    horizontals = _as_places("horizontals", horizontals)
    points = set(points)
    names = list(dict.fromkeys(name for series in lines.values() for name in series))
    check_series(names, bands=bands, points=points)
    xs = [x for series in lines.values() for x, _ in series.values()]
    ys = [y for series in lines.values() for _, y in series.values()]
    _check_log("x", log, [*xs, *verticals.values(), *(xlim or ())])
    _check_log("y", log, [*ys, *horizontals.values(), *(ylim or ())])
    with styled():
        figure = Figure((5.8 if len(panels) == 1 else 7.2, 3.5), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axis, (title, series) in zip(axes, lines.items(), strict=True):
            for name, (x, y) in series.items():
                place, cloud = names.index(name), name in points
                _line(axis, name, x, y, index=place, cloud=cloud, band=bands.get(name))
            _references(axis, verticals, horizontals)
            axis.set(xscale="log" if "x" in log else "linear")
            axis.set(yscale="log" if "y" in log else "linear")
            # A limit of None would be checked against the other panel's, before it fits the scale.
            limits = {"xlim": xlim, "ylim": ylim}
            axis.set(**{name: pair for name, pair in limits.items() if pair is not None})
            axis.set(title=title, xlabel=xlabel)
        axes[0].set_ylabel(ylabel)
        if len(names) > 1 or points:
            _legend(figure, axes)
    return figure


@accepts(
    groups=named("names to {category: value}"),
    xlabel=quantity,
    ylabel=quantity,
    errors=named("names to {category: value}"),
    value_format=form,
    title=words,
)
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
        xlabel, ylabel: the meaning of categories and heights, with units.
        errors: series name → {category: half length of the error bar}.
        value_format: a format such as ".1%" to print every value above its bar.
        ylim: the ends of the value axis.
        title: shown above.
    Returns:
        The figure.
    Raises:
        ValueError: no series or category, series whose categories differ, or a value that is not
            finite.
    """
    ylim, errors = as_ends(ylim, "ylim"), {} if errors is None else errors
    check_series(groups, errors=errors)
    categories = list(next(iter(groups.values())))
    _check_groups(groups, errors, categories)
    with styled({"axes.grid.axis": "y", "hatch.linewidth": 0.6}):
        figure = Figure((5.8, 3.5), layout="constrained")
        axis = figure.subplots()
        for index, (name, values) in enumerate(groups.items()):
            error = errors.get(name)
            drawn = _bar_series(axis, name, values, error, index=index, count=len(groups))
            if value_format:
                axis.bar_label(drawn, fmt=f"{{:{value_format}}}", padding=2, fontsize=9)
        axis.set_xticks(range(len(categories)), categories)
        axis.set(title=title, xlabel=xlabel, ylabel=ylabel, ylim=ylim)
        if len(groups) > 1:
            _legend(figure, [axis])
    return figure


def _as_lines(title: str, series: Mapping[str, Sequence]) -> dict[str, tuple]:
    """One panel's series, each with its x and y as arrays (N,)."""
    named("names to pairs (x, y)").check(f"panels[{shown(title)}]", series)
    lines = {name: as_pair(pair, f"series {shown(name)}") for name, pair in series.items()}
    for name, (x, y) in lines.items():
        if x.ndim != 1 or x.shape != y.shape:
            raise ValueError(
                f"series {shown(name)} must be two equal lists, got {x.shape} and {y.shape}"
            )
    return lines


def _as_places(name: str, places: Mapping[str, float] | None) -> dict[str, float]:
    listed = ({} if places is None else places).items()
    return {label: as_number(place, f"{name}[{shown(label)}]") for label, place in listed}


def _check_log(axis: str, log: str, values: Sequence) -> None:
    """Reject values without a logarithm, and others that a figure would silently leave out."""
    if axis in log and any((np.asarray(some) <= 0).any() for some in values):
        raise ValueError(f"log must not be {shown(log)}: there is a {axis} of 0 or below")


def _check_groups(groups: Mapping, errors: Mapping, categories: list[str]) -> None:
    """Reject series that do not have the same categories."""
    if not categories:
        raise ValueError("groups must have at least one category, got none")
    for name, values in [*groups.items(), *errors.items()]:
        named("categories to values").check(f"groups[{shown(name)}]", values)
        if list(values) != categories:
            some = ", ".join(categories)
            raise ValueError(f"groups must share the categories {some}, {shown(name)} differs")


def _heights(argument: str, name: str, values: Mapping[str, float]) -> np.ndarray:
    """One number for each category, and none below zero where it is half a length."""
    heights = [as_number(value, f"{argument}[{shown(name)}]") for value in values.values()]
    if argument == "errors" and min(heights) < 0:
        raise ValueError(f"errors[{shown(name)}] must be at least 0, got {min(heights):g}")
    return np.array(heights)


def _bar_series(axis: Axes, name: str, values, error, *, index: int, count: int) -> BarContainer:
    width = 0.8 / count
    shift = (index - (count - 1) / 2) * width
    return axis.bar(
        np.arange(len(values)) + shift,
        _heights("groups", name, values),
        width * 0.92,
        label=name,
        color=PALETTE[index % len(PALETTE)],
        hatch=_HATCHES[index % len(_HATCHES)],
        edgecolor="black",
        linewidth=0.6,
        yerr=None if error is None else _heights("errors", name, error),
        capsize=3,
    )


def _line(axis: Axes, name: str, x, y, *, index: int, cloud: bool, band) -> None:
    look = {"color": PALETTE[index % len(PALETTE)], "label": name}
    if cloud:
        axis.plot(x, y, _MARKERS[index % len(_MARKERS)], markersize=4, alpha=0.75, **look)
        return
    few = {"marker": _MARKERS[index % len(_MARKERS)], "markersize": 4} if len(x) <= 16 else {}
    axis.plot(x, y, linestyle=_LINES[index % len(_LINES)], **few, **look)
    if band is not None:
        low, high = band
        if not low.shape == high.shape == x.shape:
            raise ValueError(
                f"bands must have an end for each of the {len(x)} points of {shown(name)}, got "
                f"{low.shape} and {high.shape}"
            )
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
    # Outside, where it hides no data; in as many columns as fit.
    renderer = FigureCanvasAgg(figure).get_renderer()
    for columns in range(min(3, len(entries)), 0, -1):
        legend = figure.legend(
            entries.values(), entries.keys(), loc="outside upper center", ncols=columns
        )
        if columns == 1 or legend.get_window_extent(renderer).width <= figure.bbox.width:
            return
        legend.remove()
