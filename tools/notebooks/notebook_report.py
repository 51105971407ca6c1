"""A pytest plugin around nbval: what is compared in a notebook, how closely, and how much is not.

    python -m pytest -p tools.notebooks.notebook_report --nbval --nbval-current-env chapters

Every notebook gets one line in a closing table, and one test of its own, "measures", which fails
if more than a fifth of its cells with output are exempt, if an exempt cell does not say why, or if
a cell is not compared at all. How long its cells took is printed, in seconds and
beside a calibrating loop of the same run, and fails nothing. Notebooks may run side by side
(`-n 2 --dist loadfile`).

What is compared: every text, Markdown, HTML and LaTeX output and stdout, word for word, and of a
figure its alt text, caption, words and numbers (`gates2heads.figures.content`), each number to a
thousandth of the largest beside it. Not compared: PNG and SVG, which follow from these; widgets'
state, which the browser tests check; stderr, where progress bars and warnings go.

With `--store-times FILE`, how long each notebook took is kept for the appendix.

Cell tags say where that would be too strict:

- `approx-0.02`: numbers may differ by 2 % from the stored ones; dates, identifiers and all words
  may not. `approx-abs-0.5`: by 0.5 in the unit as printed. With both, one of them is enough.
- `varying-seconds`: numbers before ms, s or min may be any.
- `trained-figure`: the numbers in a figure may be any; how many there are, and its words, not.
- `varying-numbers`: every number may be any, in texts and in figures; no word may.
- `varying-last-column`: the content of the last column of a table may be any, below its head.

A cell with one of the last two is exempt, and says why in its metadata under `exempt_reason`; one
with a tolerance (`approx…`) says why under `tolerance_reason`.

nbval's own `nbval-ignore-output` and `nbval-skip`, and its comments, compare nothing: refused.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from gates2heads.book.studies import device_name
from tools.checks.calibration import beside, calibrate
from tools.notebooks.folding import open_lines
from tools.notebooks.output_rules import FIGURE_MIME, Rules, adopt, comparable

EXEMPT_SHARE = 0.20
PROPERTY = "notebook"  # under this name a test carries its tally to whoever prints the table


@dataclass
class Tally:
    """What happened to the code cells of one notebook."""

    code: int = 0
    open_lines: int = 0
    with_output: int = 0
    compared: int = 0
    tolerant: int = 0
    trained_figures: int = 0
    reasons: dict[int, str] = field(default_factory=dict)
    unchecked: list[int] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)
    calibrations: list[float] = field(default_factory=list)

    @property
    def exempt_share(self) -> float:
        """The part of the cells with output of which less than all is compared."""
        return len(self.reasons) / self.with_output if self.with_output else 0.0

    def faults(self) -> list[str]:
        """Report what must be corrected in a notebook, one sentence each."""
        found = [
            f"cell {cell} is exempt and must say why (metadata exempt_reason)"
            for cell, reason in self.reasons.items()
            if not reason
        ]
        found += [
            f"cell {cell} is not compared at all: tag it varying-numbers" for cell in self.unchecked
        ]
        if self.exempt_share > EXEMPT_SHARE:
            found.append(
                f"{len(self.reasons)} of {self.with_output} cells with output are exempt "
                f"({self.exempt_share:.0%}), at most {EXEMPT_SHARE:.0%} may be"
            )
        if not self.compared:
            found.append("no output was compared")
        return found

    def describe_seconds(self) -> str:
        """Describe the time of all cells together, and that of the slowest one."""
        calibration = sum(self.calibrations) / len(self.calibrations)
        slowest = max(self.seconds, key=self.seconds.get, default=0)
        longest = self.seconds.get(slowest, 0.0)
        total = beside(sum(self.seconds.values()), calibration)
        return f"{total}, slowest cell {slowest} ({longest:.1f} s)"


class ComparedNotebook(IPyNbFile):
    """A notebook whose cells are compared by our rules, and whose measures are a test as well."""

    def setup(self) -> None:
        """Start the kernel, and run cells the way a reader does."""
        super().setup()
        self.tally.calibrations.append(calibrate())
        # nbval keeps cells out of the history, and without it a final ";" hides nothing.
        self.kernel.execute_cell_input = lambda source, allow_stdin=None: self.kernel.kc.execute(
            source, allow_stdin=allow_stdin, stop_on_error=False
        )

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nbval's cells, as ours, and the measures after them."""
        self.tally = Tally()
        self.tally.open_lines = open_lines(nbformat.read(self.path, as_version=4))
        for cell in super().collect():
            yield ComparedCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )
        yield Measures.from_parent(self, name="measures")


class ComparedCell(IPyNbCell):
    """One code cell."""

    def __init__(self, name, parent, cell_num, cell, options):
        super().__init__(name, parent, cell_num, cell, options)
        self.rules = Rules.of(cell.metadata.get("tags", []), f"{parent.path.name} cell {cell_num}")

    def runtest(self) -> None:
        """Run the cell, keep its time, and note what of it is compared."""
        tally, number = self.parent.tally, self.cell_num
        tally.code += 1
        shown = bool(comparable(self.cell.outputs))
        tally.with_output += shown
        if shown and self.rules.exempt:
            tally.reasons[number] = self.cell.metadata.get("exempt_reason", "")
        if self.options["skip"] or not self.options["check"]:
            tally.unchecked.append(number)
        begin = time.perf_counter()
        try:
            super().runtest()
        finally:
            tally.seconds[number] = time.perf_counter() - begin

    def compare_outputs(self, test, ref, skip_compare=None) -> bool:
        """Compare with nbval what is left after taking near enough for the same."""
        new, stored = comparable(test), comparable(ref)
        if stored:
            tally = self.parent.tally
            tally.compared += 1
            tally.tolerant += self.rules.tolerant
            has_figure = any(FIGURE_MIME in output.get("data", {}) for output in stored)
            tally.trained_figures += self.rules.trained_figure and has_figure
        if len(new) == len(stored):
            for one, other in zip(stored, new, strict=True):
                adopt(one, other, self.rules)
        return super().compare_outputs(new, stored, skip_compare)


class Measures(pytest.Item):
    """The limits that a notebook as a whole keeps."""

    def runtest(self) -> None:
        """Fail if the notebook breaks one of them."""
        tally = self.parent.tally
        tally.calibrations.append(calibrate())
        self.user_properties.append((PROPERTY, {"name": self.path.stem, **asdict(tally)}))
        if faults := tally.faults():
            pytest.fail("; ".join(faults), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the test in pytest's output."""
        return self.path, 0, f"{self.parent.name}::measures"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the file that keeps the times."""
    parser.addoption(
        "--store-times", type=Path, metavar="FILE", help="keep each notebook's seconds"
    )


def store_times(path: Path, found: dict[str, Tally]) -> None:
    """Keep how long the cells of each notebook took, beside the loop of the same run."""
    rows = [
        {
            "name": name,
            "seconds": round(sum(tally.seconds.values()), 1),
            "slowest": round(max(tally.seconds.values(), default=0.0), 1),
            "calibration": round(sum(tally.calibrations) / len(tally.calibrations), 3),
            "code": tally.code,
            "open_lines": tally.open_lines,
        }
        for name, tally in found.items()
    ]
    report = {
        "machine": f"{device_name()}, Python {platform.python_version()}",
        "date": date.today().isoformat(),
        "rows": rows,
    }
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector):
    """Replace nbval's notebooks by ours."""
    found = yield
    return [
        ComparedNotebook.from_parent(parent, path=file_path) if type(one) is IPyNbFile else one
        for one in found
    ]


def tallies(reporter: pytest.TerminalReporter) -> dict[str, Tally]:
    """Collect what the notebooks' tests brought along, also from other processes."""
    reports = (report for group in reporter.stats.values() for report in group)
    found = [
        dict(properties)[PROPERTY]
        for report in reports
        if PROPERTY in dict(properties := getattr(report, "user_properties", ()))
        and report.when == "call"
    ]
    return {entry.pop("name"): Tally(**entry) for entry in sorted(found, key=lambda t: t["name"])}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each notebook, then its time, then the reasons of the exempt cells."""
    found = tallies(terminalreporter)
    if not any(tally.code for tally in found.values()):
        return
    if path := terminalreporter.config.getoption("--store-times"):
        store_times(path, found)
    terminalreporter.section("notebooks")
    write = terminalreporter.write_line
    heads = ("code", "open lines", "output", "compared", "tolerant", "trained fig", "exempt")
    write(f"{'notebook':28}" + "".join(f"{head:>12}" for head in heads))
    for name, tally in found.items():
        cells = (
            tally.code,
            tally.open_lines,
            tally.with_output,
            tally.compared,
            tally.tolerant,
            tally.trained_figures,
            f"{len(tally.reasons)} ({tally.exempt_share:.0%})",
        )
        write(f"{name:28}" + "".join(f"{cell!s:>12}" for cell in cells))
    write("open lines: code that a reader of the page sees without a click;")
    write("compared: word for word; of them tolerant: numbers within the cell's tolerance;")
    write("trained fig: the numbers in the figure were not compared, its words were;")
    write("exempt: its words were compared, and not its numbers or its table's last column.")
    for name, tally in found.items():
        write(f"{name:28} {tally.describe_seconds()}")
    for name, tally in found.items():
        for cell, reason in tally.reasons.items():
            write(f"{name} cell {cell} exempt: {reason or 'NO REASON GIVEN'}")
