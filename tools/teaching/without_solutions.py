"""Notebooks of the book without their solutions, the solutions apart, and a search for leaks.

A solution is in a cell of its own with the tag `solution`; what its cell wrote goes with it.
"""

from __future__ import annotations

import ast
import copy
import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ROOT / "chapters"
BOOK = re.compile(r"\d\d_\w+")  # the names of the chapters and of their second pages
SOLVED = re.compile(r'<details[^>]*class="solution"')
EXERCISE = re.compile(r"^#{2,4} Exercise (\d+\.\d+)", re.M)
VERDICT = re.compile(r"^[✔✘○] Exercise (\d+\.\d+(?:, [\w ]+)?): ", re.M)
WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
MODEL = re.compile(r"IPY_MODEL_(\w+)")
SHORTEST = 16  # characters, without spaces, of a line that is looked for
# Lines of solutions that the open part of a page also contains, and why this is right.
SHARED = {
    "trained.target, max_length=11)": "the exercise gives this call",
    "A boy wearing a blue shirt is throwing a ball to a dog.": "the sentence to translate",
    "A boy wearing a blue shirt is throwing a ball.": "a result of the opening view",
    "A man in a red shirt and a woman in a blue dress dancing.": "a result of the opening view",
    "A man in a red shirt dancing in a blue dress.": "a result of the opening view",
    "Two women are sitting on a bench eating and sitting.": "a result of the opening view",
    "Two women are sitting on a bench eating ice cream.": "a result of the opening view",
    ", whose standard deviation is 2.": "another example with the same deviation",
    "one.rung.name for one in rungs.values()": "models",  # term: rung, code; term: rungs, code
    "for one in readers.values()": "lists the models, as a figure of the page does",
    "The derivative of the loss with respect to": "begins a sentence of another derivation",
    "for name, one in NETWORKS.items()": "lists the networks, as a figure of the page does",
    ", 20 min (Intel Xeon)": "ends a line on another run",
}


def chapters(folder: Path = CHAPTERS) -> list[Path]:
    """List the notebooks of the chapters and of their second pages."""
    return [path for path in sorted(folder.glob("*.ipynb")) if BOOK.fullmatch(path.stem)]


def is_solution(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is, or writes, a solution."""
    return "solution" in cell.metadata.get("tags", [])


def written(cell: nbformat.NotebookNode) -> list[str]:
    """The texts that a cell wrote when it ran."""
    found = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        found += [output.get("text", ""), *(data[kind] for kind in data if kind[:5] == "text/")]
    return found


def stripped(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Copy a notebook without its solutions, with every other output.

    Raises:
        ValueError: a solution is in a cell without the tag `solution`.
    """
    kept = copy.deepcopy(notebook)
    kept.cells = [cell for cell in kept.cells if not is_solution(cell)]
    for cell in kept.cells:
        if any(SOLVED.search(text) for text in [cell.source, *written(cell)]):
            raise ValueError(f"cell {cell.id} has a solution, but not the tag `solution`")
    states = kept.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {})
    shown = [
        output["data"][VIEW]["model_id"]
        for cell in kept.cells
        for output in cell.get("outputs", ())
        if VIEW in output.get("data", {})
    ]
    needed = set()
    while shown:
        name = shown.pop()
        if name in states and name not in needed:
            needed.add(name)
            shown += MODEL.findall(str(states[name]))
    for name in set(states) - needed:
        del states[name]
    return kept


def solutions(notebook: nbformat.NotebookNode, title: str) -> nbformat.NotebookNode | None:
    """Collect the solutions of a notebook, each after its exercise; None if it has none.

    Args:
        notebook: a chapter.
        title: its name in the heading.
    """
    cells, exercise, announced = [], None, None
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := EXERCISE.search(cell.source)):
            exercise = cell.source[heading.start() :]
        if is_solution(cell):
            if exercise != announced:
                cells.append(nbformat.v4.new_markdown_cell(exercise, id=f"exercise-{len(cells)}"))
                announced = exercise
            cells.append(copy.deepcopy(cell))
            if cell.cell_type == "markdown":
                cells[-1].source = cell.source.replace("<details ", "<details open ", 1)
    if not cells:
        return None
    words = (
        f"# Solutions: {title}\n\nFor teachers. A solution uses what its chapter defines before "
        "it: to run one, paste it into the notebook of the chapter."
    )
    first = nbformat.v4.new_markdown_cell(words, id="solutions")
    bare = {key: value for key, value in notebook.metadata.items() if key != "widgets"}
    return nbformat.v4.new_notebook(cells=[first, *cells], metadata=copy.deepcopy(bare))


def packed(text: str) -> str:
    """Leave out what pages and data files write in other ways: spaces, quotation marks, dashes."""
    return re.sub(r"[\s\"'“”‘’`\\–—-]+", "", re.sub(r"\\[nt]", " ", text))


def _prose(line: str) -> Iterator[str]:
    """The parts of a line of Markdown that a page shows as they are."""
    parts = re.split(r"\$[^$]*\$|`[^`]*`|<[^>]*>|\]\([^)]*\)|[*|\[\]]|\{[^}]*\}", line)
    yield from (part for part in parts if len(part.split()) >= 4)


def lines_of(cell: nbformat.NotebookNode) -> set[str]:
    """The lines of code and the parts of sentences by which a solution is recognised."""
    found = set()
    texts = [cell.source, *written(cell)] if cell.cell_type == "markdown" else written(cell)
    if cell.cell_type == "code":
        found |= set(cell.source.splitlines())
    for text in texts:
        for n, block in enumerate(text.split("```")):
            for line in block.splitlines():
                found |= {line} if n % 2 else set(_prose(line))
    return {one.strip() for one in found if len(packed(one)) >= SHORTEST} - set(SHARED)


def open_code(notebooks: Iterable[nbformat.NotebookNode]) -> set[str]:
    """The lines of code that pages show outside of solutions, such as the first lines of stubs."""
    return {
        one.strip()
        for notebook in notebooks
        for cell in notebook.cells
        if cell.cell_type == "code" and not is_solution(cell)
        for line in cell.source.splitlines()
        for one in (line, line.split("  # ")[0], line.split("   # ")[0])
    }


def secrets(notebook: nbformat.NotebookNode, known: set[str]) -> dict[str, set[str]]:
    """What must not be found in a class edition.

    Args:
        notebook: a chapter with its solutions.
        known: lines that are no secret, from `open_code`.
    Returns:
        the id of each solution's cell → its lines.
    """
    return {cell.id: lines_of(cell) - known for cell in notebook.cells if is_solution(cell)}


def found_in(text: str, lines: Iterable[str]) -> list[str]:
    """The lines that a page, a notebook or a data file contains, ignoring tags and escapes."""
    plain = html.unescape(re.sub(r"<[^<>]*>", "", text))
    both = packed(html.unescape(text)) + "\n" + packed(plain)
    return sorted(line for line in lines if packed(line) in both)


def check_of(cell: nbformat.NotebookNode) -> tuple[str, str, tuple[str, ...]] | None:
    """The check at the end of an exercise's cell, as it was run without an answer.

    Returns:
        the exercise ("7.6, the repair"); the name of the check as the notebook writes it
        ("exercises.check_repair"); the expressions that it is given. None if the cell has none.
    """
    titles = [title for text in written(cell) for title in VERDICT.findall(text)]
    if cell.cell_type != "code" or not titles:
        return None
    last = ast.parse(cell.source).body[-1]
    call = last.value
    return titles[0], ast.unparse(call.func), tuple(map(ast.unparse, call.args))
