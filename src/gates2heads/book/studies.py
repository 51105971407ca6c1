"""Studies: the stored results of longer runs, with the command, seed and machine of each.

The study "ch06/copy_task" is a file `studies/ch06/copy_task.py` that makes a `Study` and calls its
`main`. Each run of it, one setting and one seed, adds a row to `ch06/results/copy_task.json` in
this folder, so that the row travels with the library: a page reads it by `read_study`, in Colab
too, where there is but the wheel.
"""

import argparse
import json
import platform
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import mean

import torch

from gates2heads.accepts import accepts, any_seed, listed, mapping, natural, number, string
from gates2heads.accepts.shown import choices, in_line, shown
from gates2heads.training.checkpoints import write_whole
from gates2heads.training.parallel import processor

BOOK = Path(__file__).parent
MOST_SETTINGS = 8  # that a "Reproduce" line names
ROWS = listed("rows, as `read_study` gives", kind=mapping("results of a run to their values"))


@dataclass(frozen=True)
class Study:
    """A question with an answer for each setting and seed.

    Args:
        name: chapter and file, such as "ch06/copy_task"; the results have the same.
        run: (setting, seed) -> the results of the run: a dict that JSON can store.
        settings: the words that the command line takes, such as the kinds of a model.
        folder: where the chapters' results are.
    """

    name: str
    run: Callable[[str, int], Mapping]
    settings: Sequence[str]
    folder: Path = BOOK

    @property
    def program(self) -> str:
        """What the command line begins with."""
        return f"python -m studies.{self.name.replace('/', '.')}"

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Do what the command line asks for: run what is not stored yet, or print a table."""
        parser = argparse.ArgumentParser(prog=self.program)
        parser.add_argument("settings", nargs="*", metavar="SETTING", help=", ".join(self.settings))
        parser.add_argument("--seeds", type=int, nargs="+", default=[0])
        parser.add_argument("--again", action="store_true", help="run what is stored already, too")
        parser.add_argument(
            "--table", action="store_true", help="print what is stored, run nothing"
        )
        asked = parser.parse_args(arguments)
        for setting in asked.settings:
            if setting not in self.settings:
                parser.error(
                    f"SETTING must be one of {', '.join(self.settings)}, got {shown(setting)}"
                )
        if asked.table:
            print(self.table())
            return
        for seed in asked.seeds:
            any_seed.check("--seeds", seed)
            for setting in asked.settings or self.settings:
                if asked.again or not self._has(setting, seed):
                    self.store(self.one(setting, seed))
                print(f"{self.name}: {setting}, seed {seed}, is stored", flush=True)

    def one(self, setting: str, seed: int) -> dict:
        """Run one setting with one seed; return its row."""
        begin = time.perf_counter()
        result = self.run(setting, seed)
        return {
            "setting": setting,
            "seed": seed,
            "command": f"{self.program} {shlex.quote(setting)} --seeds {seed}",
            "seconds": round(time.perf_counter() - begin, 1),
            "machine": {"device": device_name(), "threads": torch.get_num_threads()},
            "versions": {
                "python": platform.python_version(),
                "torch": version("torch"),
                "gates2heads": version("gates2heads"),
            },
            "result": dict(result),
        }

    def store(self, row: Mapping) -> None:
        """Add a row to the file, instead of an older one of the same setting and seed.

        Raises:
            TypeError: the row holds what JSON cannot.
        """
        run = ("setting", "seed")
        rows = [
            old for old in self.rows() if [old[key] for key in run] != [row[key] for key in run]
        ]
        rows.append(dict(row))
        order = {setting: place for place, setting in enumerate(self.settings)}
        rows.sort(key=lambda one: (order.get(one["setting"], len(order)), one["seed"]))
        try:
            text = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"run must return what JSON can hold: {error}") from error
        write_whole(results_file(self.name, self.folder), lambda file: file.write(text.encode()))

    def table(self) -> str:
        """The stored rows as Markdown."""
        return table_of(self.rows())

    def rows(self) -> list[dict]:
        """The rows that are stored so far."""
        path = results_file(self.name, self.folder)
        return _read(path) if path.is_file() else []

    def _has(self, setting: str, seed: int) -> bool:
        return any((row["setting"], row["seed"]) == (setting, seed) for row in self.rows())


def results_file(name: str, folder: Path = BOOK, *, suffix: str = ".json") -> Path:
    """Where the results of a study are: those of "ch06/copy_task" in ch06/results/copy_task.json.

    Args:
        name: chapter and file of the study.
        folder: where the chapters' results are.
        suffix: what the file's name ends with.
    """
    chapter, _, study = name.rpartition("/")
    return folder / chapter / "results" / f"{study}{suffix}"


def read_study(name: str) -> list[dict]:
    """Read the rows of a study that came with the library.

    Returns:
        one dict per run: "setting", "seed", "command", "seconds", "machine", "versions", "result".
    Raises:
        ValueError: no such study; the sentence lists those that there are.
    """
    there = sorted(f"{path.parts[-3]}/{path.stem}" for path in BOOK.glob("ch*/results/*.json"))
    if not isinstance(name, str) or name not in there:
        known = choices(there, name)
        raise ValueError(f"name must be one of the stored studies ({known}), got {shown(name)}")
    return _read(results_file(name, BOOK))


@accepts(rows=ROWS)
def results_of(rows: Sequence[Mapping], setting: str) -> list[dict]:
    """The results of one setting, one a seed, in the order of the rows.

    Args:
        rows: of one study.
        setting: one of theirs.
    Raises:
        ValueError: no row has this setting; the sentence lists those that there are.
    """
    found = [row["result"] for row in rows if row["setting"] == setting]
    if not found:
        known = choices(sorted({row["setting"] for row in rows}), setting)
        raise ValueError(f"setting must be one of the rows' ({known}), got {shown(setting)}")
    return found


@accepts(rows=ROWS, start=string(empty=False))
def preferred_setting(rows: Sequence[Mapping], start: str) -> str:
    """Choose, of settings whose names begin alike, the one with the lowest loss on validation data.

    Each setting counts with its first run, since not all of them have several.

    Args:
        rows: of one study, whose results have a loss "validation".
        start: what the names begin with, such as "gpt2 2000 " before several learning rates.
    Raises:
        ValueError: fewer than two settings begin so; the sentence lists those that there are.
    """
    settings = sorted({row["setting"] for row in rows})
    tried = [one for one in settings if one.startswith(start)]
    if len(tried) < 2:
        known = choices(settings, start)
        raise ValueError(
            f"start must begin two or more of the rows' settings ({known}), got {shown(start)}"
        )
    return min(tried, key=lambda one: results_of(rows, one)[0]["validation"])


@accepts(rows=ROWS(least=1))
def origin(rows: Sequence[Mapping]) -> str:
    """Describe in one line how rows were produced, for the foot of a table or a figure.

    Args:
        rows: of one study.
    Returns:
        such as "`python -m shipping.attention_variants hard soft --seeds 0 1`, 7 min (Intel Xeon)";
        if a line cannot hold all settings, none is named.
    """
    program = " ".join(rows[0]["command"].split()[:3])  # python -m studies.chNN.name
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    listed_settings = f" {shlex.join(settings)}" if len(settings) <= MOST_SETTINGS else ""
    seeds = " ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
    seconds = sum(row["seconds"] for row in rows)
    duration = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    machines = ", ".join(dict.fromkeys(_maker(row["machine"]["device"]) for row in rows))
    return f"`{program}{listed_settings} --seeds {seeds}`, {duration} ({machines})"


def _maker(device: str) -> str:
    """Name a processor by its maker and series: "Intel(R) Xeon(R) Processor @ 2.1GHz" is a Xeon."""
    return re.sub(r"\((?:R|TM)\)| Processor\b.*", "", device)


def table_of(rows: Sequence[Mapping]) -> str:
    """Format rows as a Markdown table: per setting, the mean and the range of its seeds."""
    numbers = [
        key
        for key, value in (rows[0]["result"] if rows else {}).items()
        if isinstance(value, int | float)
    ]
    heads = ["setting", "seeds", "seconds", *numbers]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        runs = [row for row in rows if row["setting"] == setting]
        cells = [setting, len(runs), spread([run["seconds"] for run in runs], 0)]
        cells += [_known([run["result"][key] for run in runs]) for key in numbers]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _known(values: Sequence[float | None]) -> str:
    """The mean and the range of those that are known, and how many are not."""
    known = [value for value in values if value is not None]
    told = [spread(known, 3)] if known else []
    missing = len(values) - len(known)
    return ", ".join([*told, f"{missing} without"] if missing else told)


@accepts(values=listed("numbers", kind=number, least=1), places=natural(least=0))
def spread(values: Sequence[float], places: int = 1) -> str:
    """Format the mean of some runs, with their minimum and maximum."""
    average = f"{mean(values):.{places}f}"
    if len(values) == 1:
        return average
    return f"{average} ({min(values):.{places}f}–{max(values):.{places}f})"


def device_name() -> str:
    """The graphics card, if there is one that torch can use, or else the processor."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else processor()


def _read(path: Path) -> list[dict]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"path {in_line(path)} has no results of a study: {error}") from error
