"""Figures are numbered in the order of the page, and the text's mentions follow.

An author writes `show(figure, …, number="5.3")`, and calls it Figure 5.3 in the text. Behind the
point any word will do that no other figure has: `number="5.new"`, or `"5.3b"` for one that is put
after 5.3. `renumber` then renumbers the figures, in the cells and in the text; `make execute` calls
it before it runs a notebook, so that what is stored is what the cells say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tools.notebooks.folding import source_of

MENTION = re.compile(r"(?<=\bFigure[ \u00a0])(\w+\.\w+)")
MAGIC = re.compile(r"^(\s*)[%!].*$", re.M)


@dataclass(frozen=True)
class Shown:
    """A call of `show` in a cell; where its number stands, if it has one."""

    cell: int
    number: str | None
    line: int = 0
    column: int = 0
    end: int = 0


def shown_figures(notebook: Mapping) -> Iterator[Shown]:
    """Yield the figures of a notebook in the order of the page."""
    for place, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code" or "show(" not in source_of(cell):
            continue
        tree = ast.parse(MAGIC.sub(r"\1pass", source_of(cell)))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = [node for node in calls if getattr(node.func, "id", "") == "show"]
        for call in sorted(calls, key=lambda node: node.lineno):
            values = [word.value for word in call.keywords if word.arg == "number"]
            if values and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str):
                at = values[0]
                yield Shown(place, at.value, at.lineno - 1, at.col_offset, at.end_col_offset)
            else:
                yield Shown(place, None)


def renumber(notebook: Mapping, where: str = "notebook") -> None:
    """Number the figures of a notebook from 1 on, in place, and every mention of them.

    Raises:
        ValueError: two figures have one number, or a number has no point.
    """
    figures = [figure for figure in shown_figures(notebook) if figure.number]
    names = [figure.number for figure in figures]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{where} has two figures {name}; call the new one {name}b")
        if not re.fullmatch(r"\w+\.\w+", name):
            raise ValueError(f"{where} has a figure {name!r}; it should be such as 5.3")
    places: dict[str, int] = {}
    new = {}
    for name in names:
        chapter = name.split(".")[0]
        places[chapter] = places.get(chapter, 0) + 1
        new[name] = f"{chapter}.{places[chapter]}"
    for figure in reversed(figures):
        _put(notebook["cells"][figure.cell], figure, new[figure.number])
    for cell in notebook["cells"]:
        text = source_of(cell)
        changed = MENTION.sub(lambda found: new.get(found[1], found[1]), text)
        if changed != text:
            cell["source"] = changed


def _put(cell: Mapping, figure: Shown, number: str) -> None:
    lines = source_of(cell).split("\n")
    line = lines[figure.line].encode()  # ast counts bytes
    put = line[: figure.column] + f'"{number}"'.encode() + line[figure.end :]
    lines[figure.line] = put.decode()
    cell["source"] = "\n".join(lines)


def faults(notebook: Mapping, chapter: str, known: set[str]) -> list[str]:
    """Report which figures are not numbered as they should be, and which mentions lead nowhere.

    Args:
        notebook: a page.
        chapter: its number; a page that goes further may add a letter, as in 5F.1.
        known: the numbers of all figures of the book.
    """
    found, names = [], []
    for figure in shown_figures(notebook):
        if figure.number is None:
            found.append(f'cell {figure.cell} shows a figure without a number, such as "5.3"')
        else:
            names.append(figure.number)
    prefix = names[0].split(".")[0] if names else chapter
    if not re.fullmatch(rf"{re.escape(chapter)}[A-Z]?", prefix):
        found.append(f"its figures should be numbered {chapter}.1 and so on, not {names[0]}")
    if names != [f"{prefix}.{place}" for place in range(1, len(names) + 1)]:
        found.append(f"its figures are in the order {', '.join(names)}: run make execute")
    for number, cell in enumerate(notebook["cells"]):
        for name in MENTION.findall(source_of(cell)):
            if name not in known:
                found.append(f"cell {number} mentions Figure {name}, which there is not")
    return found
