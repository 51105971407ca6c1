"""Vectors of two dimensions as arrows."""

import math
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from gates2heads.accepts import accepts
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import as_number, check_series, named
from gates2heads.figures.theme import PALETTE, styled


@accepts(vectors=named("words to vectors"))
def plane(
    vectors: Mapping[str, Sequence[float]],
    differences: Iterable[tuple[str, str]] = (),
    angles: Iterable[tuple[str, str]] = (),
) -> Figure:
    """Draw vectors from the origin, and differences and angles between some of them.

    Args:
        vectors: word → (x, y).
        differences: pairs (start, end) of words; v_end − v_start is drawn as a dashed arrow from
            the tip of one to the tip of the other.
        angles: pairs of words; an arc from one vector to the other, with the angle in degrees.
    Returns:
        The figure.
    Raises:
        TypeError: anything but a pair of numbers.
        ValueError: no vectors, or a difference or an angle of words that have none.
    """
    check_series(vectors)
    tips = {word: _as_vector(word, vector) for word, vector in vectors.items()}
    differences, angles = list(differences), list(angles)
    for name, pairs in {"differences": differences, "angles": angles}.items():
        for word in (word for pair in pairs for word in pair):
            if word not in tips:
                raise ValueError(f"{name} must be of words in vectors, got {shown(word)}")
    reach = [max(0.0, *(tip[axis] for tip in tips.values())) for axis in (0, 1)]
    lowest = [min(0.0, *(tip[axis] for tip in tips.values())) for axis in (0, 1)]
    with styled({"axes.grid": False}):
        figure = Figure((4.2, 3.0), layout="constrained")
        axis = figure.subplots()
        # A difference that leads to the right would cross a label above its start.
        below = {start for start, end in differences if tips[end][0] > tips[start][0]}
        for word, tip in tips.items():
            _arrow(axis, (0, 0), tip, PALETTE[0], "-")
            at = (4, -13) if word in below else (6, 3)
            axis.annotate(word, tip, xytext=at, textcoords="offset points")
        for start, end in differences:
            _arrow(axis, tips[start], tips[end], PALETTE[1], (0, (4, 2)))
        shortest = min(math.hypot(*tip) for tip in tips.values())
        for place, (one, other) in enumerate(angles):
            _arc(axis, tips[one], tips[other], shortest * (0.6 - 0.25 * (place % 2)))
        axis.set(xlim=(lowest[0] - 0.2, 1.3 * reach[0]), ylim=(lowest[1] - 0.2, 1.2 * reach[1]))
        axis.set(xlabel="first component", ylabel="second component", aspect="equal")
    return figure


def _as_vector(word: str, vector: Sequence[float]) -> tuple[float, float]:
    name = f"vectors[{shown(word)}]"
    if not isinstance(vector, tuple | list) or len(vector) != 2:
        raise TypeError(f"{name} must be two numbers, got {shown(vector)}")
    return as_number(vector[0], name), as_number(vector[1], name)


def _arrow(axis: Axes, start: tuple, end: tuple, colour: str, line: object) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linestyle": line, "linewidth": 1.6}
    axis.annotate("", end, xytext=start, arrowprops=look | {"shrinkA": 0, "shrinkB": 0})


def _arc(axis: Axes, one: tuple, other: tuple, radius: float) -> None:
    start, end = sorted(math.degrees(math.atan2(y, x)) for x, y in (one, other))
    if end - start > 180:  # the smaller of the two angles
        start, end = end, start + 360
    look = {"color": PALETTE[1], "linewidth": 1.4}
    axis.add_patch(Arc((0, 0), 2 * radius, 2 * radius, theta1=start, theta2=end, **look))
    middle = math.radians((start + end) / 2)
    at = (radius * math.cos(middle), radius * math.sin(middle))
    beside = (9 * math.cos(middle), 9 * math.sin(middle))
    look = {"ha": "center", "va": "center", "color": PALETTE[1]}
    axis.annotate(f"{end - start:.0f}°", at, xytext=beside, textcoords="offset points", **look)
