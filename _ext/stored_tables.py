"""Tables of the appendix, made from what is stored when the book is built: {stored-table} NAME.

ideas: what the book teaches, where, by which code, tests and view (chapters/appendix/ideas.yaml).
studies: every stored study with its command, runs and time (src/gates2heads/book/chNN/results).
ratios: the library timed against its references (benchmarks/results/ratios.json).
pages: how long each page takes to run (benchmarks/results/pages.json).
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
BOOK = ROOT / "src" / "gates2heads" / "book"
BENCHMARKS = ROOT / "benchmarks" / "results"
IDEAS = CHAPTERS / "appendix" / "ideas.yaml"
HEADING = re.compile(r"^(?:#{2,3} (?:(\d+\.\d+)|Exercise (\d+\.\d+))|## ([A-Z])(?=[ .]))")


def read_ideas() -> dict[int | str, list[dict]]:
    """Return the ideas, by chapter; those under "notes" settle a slip of the lecture notes."""
    return yaml.safe_load(IDEAS.read_text(encoding="utf-8"))


@cache
def places() -> dict[str, str]:
    """Map "1.1", "1F A" and "exercise 1.1" to an address as it is seen from the appendix."""
    found = {}
    for path in sorted(CHAPTERS.glob("[01]*.ipynb")):
        further = "F" if path.stem.endswith("_further") else ""
        for title in titles(path):
            if numbers := HEADING.match(title):
                section, exercise, letter = numbers.groups()
                chapter = f"{int(path.stem[:2])}{further}"
                place = section or (f"exercise {exercise}" if exercise else f"{chapter} {letter}")
                anchor = nodes.make_id(title.lstrip("# "))
                found[place] = f"../{path.stem}.html#{anchor}"
    return found


def titles(notebook: Path) -> list[str]:
    """List the headings of a notebook, marks included."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [line for text in texts for line in text.splitlines() if line.startswith("#")]


def link(place: str) -> str:
    """Make a link to a section, or its bare name where no page has it."""
    address = places().get(place)
    return f'<a href="{html.escape(address)}">{place}</a>' if address else place


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Write a table in Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


def ideas() -> list[str]:
    """Show what the book teaches, a table a chapter."""
    lines = []
    for chapter, entries in read_ideas().items():
        title = f"## Chapter {chapter}" if chapter != "notes" else "## Errors of the lecture notes"
        lines += [title, "", *table(("concept", "where", "how"), map(_idea, entries)), ""]
    return lines


def _idea(entry: dict) -> tuple[str, ...]:
    parts = {
        "code": [name.rpartition(".")[2] for name in entry["code"]],
        "tests": [Path(name).stem for name in entry["tests"]],
        **{kind: [entry[kind]] for kind in ("view", "study") if kind in entry},
    }
    names = (f"{kind}: " + ", ".join(f"`{one}`" for one in ones) for kind, ones in parts.items())
    return entry["idea"], ", ".join(map(link, entry["where"])), "<br>".join(names)


def studies() -> list[str]:
    """Show every stored study: its command, how many runs and seeds, and the minutes of all."""
    paths = sorted(BOOK.glob("ch*/results/*.json"))
    stored = {
        f"{path.parts[-3]}.{path.stem}": json.loads(path.read_text(encoding="utf-8"))
        for path in paths
    }
    devices = Counter(row["machine"]["device"] for rows in stored.values() for row in rows)
    counts = "; ".join(f"{runs} runs on {device}" for device, runs in devices.most_common())
    rows = (_study(name, rows) for name, rows in stored.items())
    return [f"{counts}.", "", *table(("command", "runs", "seeds", "minutes"), rows)]


def _study(name: str, rows: list[dict]) -> tuple[object, ...]:
    seeds = sorted({row["seed"] for row in rows})
    command = f"`python -m studies.{name} --seeds {' '.join(map(str, seeds))}`"
    return command, len(rows), len(seeds), f"{sum(row['seconds'] for row in rows) / 60:.1f}"


def ratios() -> list[str]:
    """Show how the library's times and sizes compare with those of its references."""
    stored = json.loads((BENCHMARKS / "ratios.json").read_text(encoding="utf-8"))
    machine = stored["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in stored["versions"].items())
    lines = [f"On {machine['processor']}, {machine['cores']} cores; {versions}.", ""]
    return lines + table(
        ("case", "against", "quantity", "ours", "reference", "ratio", "aim", "met"),
        map(_ratio, stored["rows"]),
    )


def _ratio(row: dict) -> tuple[object, ...]:
    aims = (("at_most", "≤"), ("at_least", "≥"))
    aim = " ".join(f"{sign} {row[key]:g}" for key, sign in aims if row[key] is not None)
    numbers = (f"{row[key]:.3g}" for key in ("ours", "reference", "ratio"))
    met = {True: "yes", False: "**no**", None: "–"}[row["met"]]
    return (row["case"], row["against"], row["quantity"], *numbers, aim or "–", met)


def pages() -> list[str]:
    """Show how long the cells of each page took when all were run, two pages at a time."""
    stored = json.loads((BENCHMARKS / "pages.json").read_text(encoding="utf-8"))
    loop = sum(row["calibration"] for row in stored["rows"]) / len(stored["rows"])
    machine = f"{stored['machine']}, {stored['date']}; a loop is {loop:.2f} s here."
    total = sum(row["seconds"] for row in stored["rows"])
    rows = [
        (
            f'<a href="../{row["name"]}.html">{row["name"]}</a>',
            f"{row['seconds']:.0f}",
            f"{row['seconds'] / row['calibration']:.0f}",
            f"{row['slowest']:.1f}",
            row["code"],
            row["open_lines"],
        )
        for row in stored["rows"]
    ]
    heads = ("page", "seconds", "loops", "slowest cell, s", "code cells", "open lines")
    return [machine, "", *table(heads, [*rows, ("all", f"{total:.0f}", "", "", "", "")])]


TABLES: dict[str, Callable[[], list[str]]] = {
    "ideas": ideas,
    "studies": studies,
    "ratios": ratios,
    "pages": pages,
}


class StoredTable(SphinxDirective):
    """Put one of `TABLES` into the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the table now, from what is stored now."""
        name = self.arguments[0]
        if name not in TABLES:
            raise self.error(f"stored-table must be one of {', '.join(TABLES)}, got {name}")
        self.env.note_reread()
        lines = StringList(TABLES[name](), source=f"stored table {name}")
        box = nodes.section()
        self.state.nested_parse(lines, self.content_offset, box, match_titles=True)
        return box.children


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_directive("stored-table", StoredTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
