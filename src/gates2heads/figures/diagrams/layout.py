"""Layout of diagrams: sizes from the text, gaps from the labels, routes of arrows.

All lengths are in inches; x increases to the right and y downwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple
from unicodedata import east_asian_width

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from gates2heads.accepts.shown import shown

LINE = 1.3  # from line to line, in font sizes
GAP = (0.42, 0.4)  # between columns, between rows: the least
HEAD = 0.1  # length of an arrow's head
TRUNK = 0.2  # from a box to the first corner of an arrow
NEAR = 0.05  # from a line to the text beside it

Point = tuple[float, float]


class Rect(NamedTuple):
    """A rectangle; y increases downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Point:
        """Return the middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def grown(self, by: float) -> "Rect":
        """Return the rectangle with a margin."""
        return Rect(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: "Rect") -> bool:
        """Whether the two share more than an edge."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 1e-9 and down > 1e-9


def around(middle: Point, size: Point) -> Rect:
    """Return the rectangle of a size around its middle."""
    (x, y), (width, height) = middle, size
    return Rect(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def hull(rects: Sequence[Rect]) -> Rect:
    """Return the smallest rectangle around some."""
    lefts, tops, rights, bottoms = zip(*rects, strict=True)
    return Rect(min(lefts), min(tops), max(rights), max(bottoms))


@lru_cache(maxsize=4096)
def text_size(text: str, points: float) -> Point:
    """Measure a text, its lines together; full-width letters are counted as such."""
    if not text:
        return 0.0, 0.0
    # The measuring font has no Chinese; in the reader's font, each character is a square.
    plain = ["".join("\u2014" if east_asian_width(c) in "WF" else c for c in row) for row in
             text.split("\n")]  # fmt: skip
    measure, font = TextToPath(), FontProperties(family="DejaVu Sans", size=points)
    widths = [measure.get_text_width_height_descent(row, font, ismath=False)[0] for row in plain]
    return max(widths) / 72, len(plain) * LINE * points / 72


def centres(
    places: Iterable[float], sizes: Mapping[int, float], gaps: Mapping[int, float], least: float
) -> dict[float, float]:
    """Compute the positions of the columns (or rows) of a plan.

    Args:
        places: every column that is used; fractional ones are between two whole ones.
        sizes: whole column → its width.
        gaps: whole column → the gap after it, if it must exceed the minimum.
        least: the minimum gap.
    Returns:
        position → coordinate of its middle; the first column begins at 0.
    """
    places = sorted(set(places))
    first, last = int(places[0] // 1), int(-(-places[-1] // 1))
    whole, edge = {}, 0.0
    for column in range(first, last + 1):
        size = sizes.get(column, 0.0)
        whole[column] = edge + size / 2
        edge += size + max(least, gaps.get(column, 0.0))
    found = {}
    for place in places:
        before = int(place // 1)
        share = place - before
        after = whole.get(before + 1, whole[before])
        found[place] = (1 - share) * whole[before] + share * after
    return found


def way(start: Rect, end: Rect, route: str, shift: float = 0.0) -> list[Point]:
    """Find the corners of an arrow from one box to another.

    Args:
        start, end: the boxes.
        route: "across" leaves and enters at the sides, "down" above or below; "across then down"
            and "down then across" turn once; "around the left", "around the right" and "around the
            top" leave and enter on the same side. "" is a straight line where there is one, else
            across.
        shift: inches by which a straight line is moved to the right or down, and a way around is
            moved away from the boxes.
    Returns:
        Two points or more; each step is horizontal or vertical.
    """
    (ax, ay), (bx, by) = start.middle, end.middle
    side = (start.right, end.left) if bx > ax else (start.left, end.right)
    edge = (start.bottom, end.top) if by > ay else (start.top, end.bottom)
    level = _shared(start.top, start.bottom, end.top, end.bottom)
    upright = _shared(start.left, start.right, end.left, end.right)
    if route.startswith("around"):
        corners = _around(start, end, route, shift)
    elif route in ("", "across") and level is not None:
        corners = [(side[0], level + shift), (side[1], level + shift)]
    elif route in ("", "down") and upright is not None:
        corners = [(upright + shift, edge[0]), (upright + shift, edge[1])]
    elif route in ("", "across"):
        corner = side[0] + (TRUNK if bx > ax else -TRUNK)
        corners = [(side[0], ay), (corner, ay), (corner, by), (side[1], by)]
    elif route == "down":
        corner = edge[0] + (TRUNK if by > ay else -TRUNK)
        corners = [(ax, edge[0]), (ax, corner), (bx, corner), (bx, edge[1])]
    elif route == "across then down":
        corners = [(side[0], ay), (bx, ay), (bx, edge[1])]
    else:
        corners = [(ax, edge[0]), (ax, by), (side[1], by)]
    return corners


def _around(start: Rect, end: Rect, route: str, shift: float) -> list[Point]:
    """Find the route out of one side of a box and into the same side of another."""
    (ax, ay), (bx, by) = start.middle, end.middle
    if route == "around the top":
        corner = min(start.top, end.top) - TRUNK - shift
        return [(ax, start.top), (ax, corner), (bx, corner), (bx, end.top)]
    if route == "around the left":
        corner, sides = min(start.left, end.left) - TRUNK - shift, (start.left, end.left)
    else:
        corner, sides = max(start.right, end.right) + TRUNK + shift, (start.right, end.right)
    return [(sides[0], ay), (corner, ay), (corner, by), (sides[1], by)]


def _shared(low: float, high: float, other_low: float, other_high: float) -> float | None:
    """Find the middle of what two spans share, or None where they share too little for an arrow."""
    begin, end = max(low, other_low), min(high, other_high)
    return (begin + end) / 2 if end - begin > 0.1 else None


def label_places(corners: Sequence[Point], above: Point, below: Point) -> tuple[Point, Point]:
    """Find the middles of an arrow's two texts: above and below a horizontal step, else beside.

    Args:
        corners: the arrow's route.
        above, below: sizes of the two texts; (0, 0) if there is none.
    """
    steps = list(pairwise(corners))
    level = [step for step in steps if abs(step[0][1] - step[1][1]) < 1e-9]
    (x0, y0), (x1, y1) = (level or steps)[-1]
    if not level:
        height = above[1] + below[1]
        top, x = (y0 + y1 - height) / 2, x0 + NEAR + 0.03
        return (x + above[0] / 2, top + above[1] / 2), (
            x + below[0] / 2,
            top + above[1] + below[1] / 2,
        )
    room, width = abs(x1 - x0) - HEAD, max(above[0], below[0])
    onward = 1 if x1 > x0 else -1
    # In the middle of a short step, at the end of a long one, where it is seen what it enters.
    x = x1 - onward * (HEAD + (room / 2 if room < width + 0.5 else 0.12 + width / 2))
    return (x, y0 - NEAR - above[1] / 2), (x, y0 + NEAR + below[1] / 2)


def check_clear(
    texts: Mapping[str, Rect],
    boxes: Mapping[str, Rect],
    arrows: Mapping[str, tuple[list[Point], tuple[str, str]]],
    frames: Mapping[str, Rect],
) -> None:
    """Check that no two elements overlap.

    Args:
        texts: text → its rectangle; the words of a box count as the box.
        boxes: name of each box → its rectangle.
        arrows: name of each arrow → its corners and the boxes at its ends.
        frames: title of each group → its frame, whose edge no text may touch.
    Raises:
        ValueError: two elements overlap; the message names them.
    """
    for (one, here), (other, there) in combinations({**boxes, **texts}.items(), 2):
        if here.meets(there):
            raise ValueError(f"at must keep apart {shown(one)} and {shown(other)}, they overlap")
    for title, frame in frames.items():
        for name, rect in texts.items():
            if rect.meets(frame) and hull([rect, frame]) != frame:
                raise ValueError(f"at must keep {shown(name)} off the frame of {shown(title)}")
    for name, (corners, ends) in arrows.items():
        for (x0, y0), (x1, y1) in pairwise(corners):
            line = Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)).grown(0.01)
            for other, rect in {**boxes, **texts}.items():
                if other not in ends and line.meets(rect):
                    raise ValueError(
                        f"route of the arrow {shown(name)} must not run through {shown(other)}"
                    )
