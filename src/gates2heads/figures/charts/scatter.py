"""Points in a plane, each drawn as its label."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from gates2heads.accepts import accepts, natural
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import as_pair, check_series, named, quantity
from gates2heads.figures.theme import PALETTE, styled


@accepts(panels=named("titles to series"), xlabel=quantity, ylabel=quantity, columns=natural)
def scatter(
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]],
    *,
    xlabel: str,
    ylabel: str,
    columns: int = 3,
) -> Figure:
    """Draw points whose marker is the label of their class, in panels with separate axes.

    Args:
        panels: title → series, each label → (x (N,), y (N,)). The colours repeat, so that only the
            labels distinguish classes.
        xlabel, ylabel: the meaning of the axes.
        columns: panels in a row.
    Returns:
        The figure.
    Raises:
        TypeError: anything but a pair of lists of numbers.
        ValueError: no panel, no series, lists of unequal lengths, or a label with other signs than
            unaccented letters and digits.
    """
    check_series(panels)
    drawn = {}
    for title, series in panels.items():
        named("labels to pairs (x, y)").check(f"panels[{shown(title)}]", series)
        check_series(series)
        drawn[title] = {
            label: _as_points(label, pair, f"panels[{shown(title)}][{shown(label)}]")
            for label, pair in series.items()
        }
    rows = -(-len(drawn) // columns)
    with styled({"axes.grid": False}):
        figure = Figure((7.2, 0.4 + 2.3 * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        for axis in axes.flat[len(drawn) :]:
            axis.remove()
        for axis, (title, series) in zip(axes.flat, drawn.items(), strict=False):
            for place, (label, (x, y)) in enumerate(series.items()):
                letter = f"$\\mathrm{{{label}}}$"
                look = {"marker": letter, "markersize": 4 + 2 * min(len(label), 2)}
                colour = PALETTE[place % len(PALETTE)]
                axis.plot(x, y, linestyle="", color=colour, markeredgewidth=0.2, **look)
            axis.set(title=title, xticks=[], yticks=[])
        for axis in axes[-1]:
            axis.set_xlabel(xlabel)
        for axis in axes[:, 0]:
            axis.set_ylabel(ylabel)
    return figure


def _as_points(label: str, pair: tuple, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and the y of one class, whose label can be a marker."""
    if not (label.isascii() and label.isalnum()):
        raise ValueError(f"{name} must have a label of letters and digits, got {shown(label)}")
    x, y = as_pair(pair, name)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"{name} must be two lists of equal lengths, got {x.shape} and {y.shape}")
    return x, y
