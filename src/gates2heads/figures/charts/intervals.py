"""Points with intervals, one row for each compared item."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from gates2heads.accepts import accepts
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import as_number, check_series, named
from gates2heads.figures.theme import PALETTE, styled


@accepts(panels=named("names of quantities to rows"))
def intervals(panels: Mapping[str, Mapping[str, tuple[float, float, float]]]) -> Figure:
    """Draw values with their intervals, the first row on top.

    Args:
        panels: the measured quantity, with its unit (below the axis) → {row: (value, low, high)}.
            Every panel has the same rows and its own axis.
    Returns:
        The figure.
    Raises:
        TypeError: a value that is not a number.
        ValueError: no panel or row, panels whose rows differ, or a value outside its interval.
    """
    check_series(panels)
    drawn = {title: _as_rows(title, rows) for title, rows in panels.items()}
    names = list(next(iter(drawn.values())))
    if not names:
        raise ValueError("panels must have at least one row, got none")
    for title, rows in drawn.items():
        if list(rows) != names:
            raise ValueError(
                f"panels must share the rows {', '.join(names)}; {shown(title)} differs"
            )
    with styled({"axes.grid.axis": "x"}):
        figure = Figure((7.2, 0.9 + 0.32 * len(names)), layout="constrained")
        axes = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
        for axis, (title, rows) in zip(axes, drawn.items(), strict=True):
            for place, (value, low, high) in enumerate(rows.values()):
                axis.plot([low, high], [place, place], color=PALETTE[0], linewidth=1.6)
                axis.plot([value], [place], "o", color=PALETTE[1], markersize=6)
            axis.axvline(0, color="black", linewidth=0.8)
            axis.set(xlabel=title)
        axes[0].set(ylim=(len(names) - 0.5, -0.5))
        axes[0].set_yticks(range(len(names)), names)
    return figure


def _as_rows(title: str, rows: Mapping) -> dict[str, tuple[float, float, float]]:
    """One panel's rows, each with its value and the ends of its interval."""
    named("rows to triples (value, low, high)").check(f"panels[{shown(title)}]", rows)
    found = {}
    for name, triple in rows.items():
        label = f"panels[{shown(title)}][{shown(name)}]"
        if not isinstance(triple, tuple | list) or len(triple) != 3:
            raise TypeError(f"{label} must be a triple (value, low, high), got {shown(triple)}")
        value, low, high = (as_number(one, label) for one in triple)
        if not low <= value <= high:
            raise ValueError(f"{label} must lie in its interval {low:g} to {high:g}, got {value:g}")
        found[name] = (value, low, high)
    return found
