"""Diagrams of models: boxes, arrows and shapes, in the colours of the book's figures.

A diagram declares the column and row of each box, and the arrows; sizes, gaps, the ends of arrows
and the positions of labels follow from the text. Like every figure it is displayed by `show`.
"""

from collections.abc import Iterator

from matplotlib.figure import Figure

from gates2heads.accepts import accepts, choice, flag, number, positive, string
from gates2heads.accepts.shown import shown
from gates2heads.figures.diagrams.layout import (
    GAP,
    HEAD,
    TRUNK,
    Point,
    Rect,
    around,
    centres,
    check_clear,
    hull,
    label_places,
    text_size,
    way,
)
from gates2heads.figures.diagrams.parts import (
    SMALL,
    Arrow,
    Box,
    draw_arrow,
    draw_box,
    draw_frame,
    sheet,
    write,
    write_title,
)
from gates2heads.figures.theme import COLOURS, styled

MARGIN, TITLE = 0.16, 0.24  # of a group: margin around its boxes, height of its title
BOLD = 1.12  # the relative width of bold letters
KINDS = ("box", "round", "plain")
ROUTES = (
    "",
    "across",
    "down",
    "across then down",
    "down then across",
    "around the left",
    "around the right",
    "around the top",
)


class Diagram:
    """Boxes in columns and rows, and arrows between them.

    An example: `d = Diagram(); d.box("a", "Encoder", at=(0, 0), shape="(B, S, U)");
    d.box("b", "Decoder", at=(1, 0)); d.arrow("a", "b", "states"); show(d.draw(), …)`.
    """

    @accepts(row_gap=positive(most=9))
    def __init__(self, *, row_gap: float = GAP[1]):
        """Begin an empty diagram.

        Args:
            row_gap: inches between two rows, at least; less suits a diagram of many rows.
        """
        self._row_gap = float(row_gap)
        self._boxes: dict[str, Box] = {}
        self._arrows: list[Arrow] = []
        self._groups: list[tuple[str, tuple[str, ...], str]] = []

    def __repr__(self):
        return f"Diagram({len(self._boxes)} boxes, {len(self._arrows)} arrows)"

    @accepts(
        name=string(empty=False),
        text=string(empty=False),
        shape=string,
        kind=choice(KINDS),
        colour=choice(COLOURS),
    )
    def box(
        self,
        name: str,
        text: str,
        *,
        at: tuple[float, float],
        shape: str = "",
        kind: str = "box",
        colour: str = "blue",
    ) -> None:
        r"""Add a box.

        Args:
            name: its name in arrows and groups.
            text: its text; lines are separated by `\n`.
            at: its column and row, counted to the right and down; 0.5 lies between two.
            shape: the shape of its output, such as "(B, S, U)", below the text.
            kind: "box", "round" for an operation, or "plain" for words without a frame.
            colour: one of `COLOURS`: blue for the input side, orange for the output side.
        Raises:
            ValueError: a name that is already used, or an invalid position.
        """
        if name in self._boxes:
            raise ValueError(f"name must be new, got {shown(name)} again")
        if not isinstance(at, tuple | list) or len(at) != 2:
            raise ValueError(f"at must be a column and a row, got {shown(at)}")
        for place in at:
            number(least=-99, most=99).check("each of at", place)
        self._boxes[name] = Box(text, (float(at[0]), float(at[1])), shape, kind, colour)

    @accepts(
        label=string,
        shape=string,
        route=choice(ROUTES),
        shift=number(least=-1, most=1),
        dashed=flag,
    )
    def arrow(
        self,
        start: str,
        end: str,
        label: str = "",
        *,
        shape: str = "",
        route: str = "",
        shift: float = 0.0,
        dashed: bool = False,
    ) -> None:
        """Add an arrow from one box to another.

        Args:
            start, end: names of two boxes.
            label: the label, above the arrow, or beside a vertical one.
            shape: its shape, below the arrow, or below the label.
            route: "" for a straight line where there is one; or "across", "down", "across then
                down", "down then across", by the sides at which it leaves and enters; or "around
                the left", "around the right", "around the top", past the boxes between the two.
            shift: inches by which a straight arrow is moved, so that two may be parallel, or by
                which a detour is moved away from the boxes.
            dashed: whether the line is dashed, for optional connections.
        Raises:
            ValueError: no such box, or an arrow to itself.
        """
        self._check_known(start=start, end=end)
        if start == end:
            raise ValueError(f"end must be another box than start, got {shown(end)} twice")
        self._arrows.append(Arrow(start, end, label, shape, route, float(shift), dashed))

    @accepts(title=string(empty=False), colour=choice(COLOURS))
    def group(self, title: str, *names: str, colour: str = "blue") -> None:
        """Draw a frame around some boxes.

        Args:
            title: the name of the group.
            names: the boxes.
            colour: one of `COLOURS`.
        Raises:
            ValueError: a title that is already used, no boxes or unknown ones.
        """
        if title in (taken for taken, _, _ in self._groups):
            raise ValueError(f"title must be new, got {shown(title)} again")
        if not names:
            raise ValueError("names must hold at least one box, got none")
        for name in names:
            self._check_known(names=name)
        self._groups.append((title, names, colour))

    def draw(self) -> Figure:
        """Draw the diagram.

        Returns:
            The figure, as large as its content; the page shrinks figures wider than 7.5 inches.
        Raises:
            ValueError: nothing to draw, or two elements overlap.
        """
        if not self._boxes:
            raise ValueError("the diagram must have at least one box, got none")
        boxes = self._place()
        arrows = {
            f"{arrow.start} → {arrow.end}" + (f" ({number})" if number else ""): arrow
            for number, arrow in enumerate(self._arrows)
        }
        ways = {
            name: way(boxes[arrow.start], boxes[arrow.end], arrow.route, arrow.shift)
            for name, arrow in arrows.items()
        }
        frames = {title: self._frame(title, names, boxes) for title, names, _ in self._groups}
        titles = {title: self._title(title, frame) for title, frame in frames.items()}
        labels = dict(self._labels(arrows, ways))
        rects = {f"the title {title}": rect for title, rect in titles.items()}
        rects |= {what: rect for what, (_, rect) in labels.items()}
        ends = {name: (ways[name], (arrow.start, arrow.end)) for name, arrow in arrows.items()}
        check_clear(rects, boxes, ends, frames)
        points = [Rect(*corner, *corner) for corners in ways.values() for corner in corners]
        paper = hull([*boxes.values(), *frames.values(), *rects.values(), *points]).grown(0.1)
        with styled({"axes.grid": False}):
            figure, axis = sheet(paper)
            for title, _, colour in self._groups:
                draw_frame(axis, frames[title], colour)
                write_title(axis, title, titles[title])
            for name, arrow in arrows.items():
                draw_arrow(axis, ways[name], dashed=arrow.dashed)
            for name, box in self._boxes.items():
                draw_box(axis, boxes[name], box)
            for words, rect in labels.values():
                write(axis, words, rect.middle, SMALL)
        return figure

    def _check_known(self, **names: str) -> None:
        for argument, name in names.items():
            if not isinstance(name, str) or name not in self._boxes:
                raise ValueError(
                    f"{argument} must name a box of {list(self._boxes)}, got {shown(name)}"
                )

    def _place(self) -> dict[str, Rect]:
        """Place the boxes: columns as wide as their boxes, gaps for the labels."""
        grid = []
        for axis in (0, 1):
            sizes: dict[int, float] = {}
            for box in self._boxes.values():
                if box.at[axis] == int(box.at[axis]):
                    place = int(box.at[axis])
                    sizes[place] = max(sizes.get(place, 0.0), box.size[axis])
            places = [box.at[axis] for box in self._boxes.values()]
            grid.append(centres(places, sizes, self._gaps(axis), (GAP[0], self._row_gap)[axis]))
        return {
            name: around((grid[0][box.at[0]], grid[1][box.at[1]]), self._size(box))
            for name, box in self._boxes.items()
        }

    def _size(self, box: Box) -> Point:
        """Give a box the width of the widest in its column, so that edges line up."""
        if box.kind != "box":
            return box.size
        like = (other for other in self._boxes.values() if other.at[0] == box.at[0])
        return max(other.size[0] for other in like if other.kind == "box"), box.size[1]

    def _gaps(self, axis: int) -> dict[int, float]:
        """Find the gaps that labels and groups need, each by the position before it."""
        labels: dict[int, float] = {}
        for arrow in self._arrows:
            start, end = (self._boxes[name].at[axis] for name in (arrow.start, arrow.end))
            if start == end:
                continue
            above, below = arrow.sizes
            turns = self._boxes[arrow.start].at[1 - axis] != self._boxes[arrow.end].at[1 - axis]
            if axis == 1 and turns:
                continue  # its words are beside a horizontal step
            # Labels of horizontal arrows are in the gap before the arrow's end; beside a vertical
            # one there is room.
            need = max(above[0], below[0]) if axis == 0 else above[1] + below[1]
            need += HEAD + 0.16 + (TRUNK if turns else 0.0)
            gap = int(-(-end // 1)) - 1 if end > start else int(end // 1)
            labels[gap] = max(labels.get(gap, 0.0), need)
        before: dict[int, float] = {}
        behind: dict[int, float] = {}
        for _, names, _ in self._groups:
            places = [self._boxes[name].at[axis] for name in names]
            first, last = int(min(places) // 1) - 1, int(-(-max(places) // 1))
            before[first] = MARGIN + (TITLE if axis == 1 else 0.0)
            behind[last] = MARGIN
        return {
            place: max(labels.get(place, 0.0), (GAP[0], self._row_gap)[axis])
            + before.get(place, 0.0)
            + behind.get(place, 0.0)
            for place in labels.keys() | before.keys() | behind.keys()
        }

    @staticmethod
    def _labels(
        arrows: dict[str, Arrow], ways: dict[str, list[Point]]
    ) -> Iterator[tuple[str, tuple[str, Rect]]]:
        """Find the texts beside the arrows, each with a unique name, and their positions."""
        for name, arrow in arrows.items():
            middles = label_places(ways[name], *arrow.sizes)
            both = (arrow.label, arrow.shape)
            for words, middle, size in zip(both, middles, arrow.sizes, strict=True):
                if words:
                    yield f"{words} of {name}", (words, around(middle, size))

    @staticmethod
    def _frame(title: str, names: tuple[str, ...], boxes: dict[str, Rect]) -> Rect:
        frame = hull([boxes[name] for name in names]).grown(MARGIN)
        wide = frame.left + 2 * MARGIN + BOLD * text_size(title, SMALL)[0]
        return frame._replace(top=frame.top - TITLE, right=max(frame.right, wide))

    @staticmethod
    def _title(title: str, frame: Rect) -> Rect:
        width, height = text_size(title, SMALL)
        width *= BOLD
        middle = frame.left + MARGIN + width / 2, frame.top + 0.06 + height / 2
        return around(middle, (width, height))
