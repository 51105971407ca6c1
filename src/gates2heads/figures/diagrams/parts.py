"""The elements of a diagram: boxes and arrows, and how they are drawn."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon

from gates2heads.figures.diagrams.layout import HEAD, LINE, Point, Rect, text_size
from gates2heads.figures.theme import COLOURS

NAME, SMALL = 10.5, 9.0  # points
PAD = (0.13, 0.08)  # inches of padding beside and above the words of a box


@dataclass(frozen=True)
class Box:
    """A box in a column and a row."""

    text: str
    at: Point
    shape: str
    kind: str
    colour: str

    @property
    def size(self) -> Point:
        """Return the size that its words need, in inches."""
        (width, height), (wide, high) = text_size(self.text, NAME), text_size(self.shape, SMALL)
        width, height = max(width, wide) + 2 * PAD[0], height + high + 2 * PAD[1]
        if self.kind == "round":
            return max(width, height), height
        return width, height


@dataclass(frozen=True)
class Arrow:
    """An arrow from one box to another."""

    start: str
    end: str
    label: str
    shape: str
    route: str
    shift: float
    dashed: bool

    @property
    def sizes(self) -> tuple[Point, Point]:
        """Return the sizes of its label and its shape, in inches."""
        return text_size(self.label, SMALL), text_size(self.shape, SMALL)


def draw_frame(axis: Axes, rect: Rect, colour: str) -> None:
    """Draw the frame of a group."""
    look = {"facecolor": to_rgba(COLOURS[colour], 0.05), "edgecolor": to_rgba(COLOURS[colour], 0.6)}
    axis.add_patch(_rounded(rect, 0.1, linewidth=0.9, linestyle=(0, (4, 3)), **look))


def draw_box(axis: Axes, rect: Rect, box: Box) -> None:
    """Draw a box with its text, and its shape below."""
    if box.kind != "plain":
        corner = 0.06 if box.kind == "box" else min(0.25, (rect.bottom - rect.top) / 2)
        look = {"facecolor": to_rgba(COLOURS[box.colour], 0.16), "edgecolor": COLOURS[box.colour]}
        axis.add_patch(_rounded(rect, corner, linewidth=1.3, **look))
    (_, name), (_, shape) = text_size(box.text, NAME), text_size(box.shape, SMALL)
    x, y = rect.middle
    write(axis, box.text, (x, y - shape / 2), NAME)
    if box.shape:
        write(axis, box.shape, (x, y + name / 2), SMALL, alpha=0.8)


def _rounded(rect: Rect, corner: float, **look: object) -> FancyBboxPatch:
    style = f"round,pad=0,rounding_size={corner}"
    size = rect.right - rect.left, rect.bottom - rect.top
    return FancyBboxPatch((rect.left, rect.top), *size, boxstyle=style, **look)


def draw_arrow(axis: Axes, corners: list[Point], *, dashed: bool) -> None:
    """Draw a line along the corners, and an arrowhead at the last."""
    (x0, y0), (x1, y1) = corners[-2:]
    long = max(abs(x1 - x0), abs(y1 - y0))
    dx, dy = (x1 - x0) / long * HEAD, (y1 - y0) / long * HEAD
    line = [*corners[:-1], (x1 - dx, y1 - dy)]
    axis.plot(*zip(*line, strict=True), color="black", linewidth=1.2,
              linestyle=(0, (4, 2)) if dashed else "-", solid_joinstyle="round")  # fmt: skip
    side = (-dy * 0.45, dx * 0.45)
    base = (x1 - dx, y1 - dy)
    wings = [(base[0] + s * side[0], base[1] + s * side[1]) for s in (1, -1)]
    axis.add_patch(Polygon([(x1, y1), *wings], closed=True, facecolor="black", linewidth=0))


def write(
    axis: Axes, words: str, middle: Point, points: float, *, alpha: float = 1.0, **look: object
) -> None:
    """Write lines around a middle, each a separate text: the reader's font may be narrower."""
    lines, (x, y) = words.split("\n"), middle
    step = LINE * points / 72
    look = {"ha": "center", "va": "center", "color": "black", "alpha": alpha} | look
    for place, line in enumerate(lines):
        at = y + (place - (len(lines) - 1) / 2) * step
        axis.text(x, at, line, parse_math=False, fontsize=points, **look)


def write_title(axis: Axes, words: str, place: Rect) -> None:
    """Write the title of a group, from the left edge of its frame."""
    middle = place.left, place.middle[1]
    write(axis, words, middle, SMALL, ha="left", fontweight="bold")


def sheet(paper: Rect) -> tuple[Figure, Axes]:
    """Give a figure of the paper's size whose coordinates are the paper's inches."""
    figure = Figure((paper.right - paper.left, paper.bottom - paper.top))
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(paper.left, paper.right), ylim=(paper.bottom, paper.top))
    axis.set_axis_off()
    return figure, axis
