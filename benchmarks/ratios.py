"""Ratios of ours to the reference: measured in turn, printed as one table, stored for a page.

The two run in turn, in one thread, and processor time is counted, not the clock on the wall: a
busy machine counts for neither. The ratio is of the fewest seconds of each.
"""

import json
import os
import platform
import subprocess
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from gates2heads.training.parallel import processor

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("torch", "numpy", "transformers", "gensim", "sacrebleu", "rouge-score")


def commit() -> str:
    """Name the state of the tree: the last commit, and + if src/ differs from it."""
    last = ["git", "rev-parse", "--short", "HEAD"]
    name = subprocess.run(last, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    same = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src"], check=False, cwd=ROOT)
    return name.strip() + ("+" if same.returncode else "")


@dataclass
class Row:
    """One comparison. `at_most` or `at_least` is its aim; with neither it is only told."""

    case: str
    against: str
    quantity: str
    ours: float
    reference: float
    at_most: float | None = None
    at_least: float | None = None
    ratio: float = field(init=False)
    met: bool | None = field(init=False)
    load: list[float] = field(init=False)  # processes that wanted a core: mean of 1, 5, 15 minutes
    date: str = field(init=False)
    commit: str = field(default_factory=commit)

    def __post_init__(self):
        self.ratio = self.ours / self.reference
        above = self.at_most is not None and self.ratio > self.at_most
        below = self.at_least is not None and self.ratio < self.at_least
        self.met = not (above or below) if self.aim else None
        self.load = [round(mean, 2) for mean in os.getloadavg()]
        self.date = datetime.now(timezone.utc).isoformat(timespec="seconds")

    @property
    def aim(self) -> str:
        """The bound as a reader writes it."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}"


def fewest_seconds(ours, theirs, rounds):
    """Run both once to warm up, then in turn, and give the fewest seconds of each."""
    fewest = [float("inf"), float("inf")]
    ours(), theirs()
    for _ in range(rounds):
        for column, run in enumerate((ours, theirs)):
            start = time.process_time()
            run()
            fewest[column] = min(fewest[column], time.process_time() - start)
    return fewest


def table(rows: list[Row]) -> list[str]:
    """Write the rows as lines of text."""
    layout = "{:<42} {:<24} {:>11} {:>11} {:>7}  {:<7} {}"
    lines = [layout.format("case", "quantity", "ours", "reference", "ratio", "aim", "met")]
    for row in rows:
        numbers = f"{row.ours:,.4g}", f"{row.reference:,.4g}", f"{row.ratio:.2f}"
        met = {True: "yes", False: "NO", None: "–"}[row.met]
        lines.append(layout.format(row.case, row.quantity, *numbers, row.aim or "–", met))
    return lines


def machine() -> dict:
    """What the numbers depend on: the processor and the versions."""
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "versions": {
            "python": platform.python_version(),
            **{library: version(library) for library in LIBRARIES},
        },
    }


def store(rows: list[Row], path: Path, command: str) -> None:
    """Write the rows to a JSON file; rows of other cases stay if machine and versions are equal."""
    here = machine()
    new = {(row.case, row.quantity): asdict(row) | {"command": command} for row in rows}
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if all(old.get(name) == value for name, value in here.items()):
        new = {(row["case"], row["quantity"]): row for row in old["rows"]} | new
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(here | {"rows": list(new.values())}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
