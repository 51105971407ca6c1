"""Run the notebooks that students handed in, and print a table of what the checks say.

    python tools/teaching/run_submissions.py [--timeout SECONDS] FOLDER

Each notebook in the folder and below it is run from top to bottom in a temporary folder; the file
itself stays as it is. An error in a cell does not stop the run. The table has a row for each
notebook and a column for each exercise: ✔ passed, ✘ not yet, ○ not tried, – no check was run.

This runs code that others wrote, with your rights and your network. Run it in a container or on a
virtual machine that holds nothing of value. A notebook can also print a verdict that no check gave.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.execute_notebooks import this_interpreter  # noqa: E402

VERDICT = re.compile(r"^([✔✘○]) Exercise (\w+\.\w+(?:, [\w ]+)?): ", re.M)
MINUTES = 10  # until a cell counts as hanging


def verdicts(path: Path, timeout: float = 60 * MINUTES) -> tuple[dict[str, str], str]:
    """Run a notebook and read what its checks say.

    Args:
        path: the notebook; it is not changed.
        timeout: seconds until a cell counts as hanging.
    Returns:
        exercise → ✔, ✘ or ○, the last one counts; and why the run ended early, if it did.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError):
        return {}, "cannot be read as a notebook"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    ended = ""
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            km=this_interpreter(Path(folder)),
            timeout=timeout,
            allow_errors=True,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=os.environ | {"MPLCONFIGDIR": folder})
        except CellTimeoutError:
            ended = f"a cell took more than {timeout:g} s"
        except DeadKernelError:
            ended = "the kernel died"
    return read(notebook), ended


def read(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Find the verdicts in the outputs of a notebook: exercise → ✔, ✘ or ○."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            text = output.get("text", output.get("data", {}).get("text/plain", ""))
            found |= {exercise: sign for sign, exercise in VERDICT.findall(text)}
    return found


def table(results: dict[str, tuple[dict[str, str], str]]) -> str:
    """Lay out the verdicts: a row for each notebook, a column for each exercise."""

    def order(exercise: str) -> list[tuple[int, str]]:
        return [(int(re.sub(r"\D", "", part) or 0), part) for part in exercise.split(".")]

    exercises = sorted({one for found, _ in results.values() for one in found}, key=order)
    width = max(len(name) for name in ["notebook", *results])
    lines = ["  ".join(["notebook".ljust(width), *exercises, "passed"])]
    for name, (found, ended) in results.items():
        cells = [found.get(one, "–").ljust(len(one)) for one in exercises]
        passed = f"{list(found.values()).count('✔')} of {len(found)}"
        lines.append("  ".join([name.ljust(width), *cells, passed, *([ended] if ended else [])]))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run every notebook of a folder, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--timeout", type=float, default=60 * MINUTES, metavar="SECONDS")
    options = parser.parse_args(arguments)
    hidden = ".ipynb_checkpoints"
    paths = [one for one in sorted(options.folder.rglob("*.ipynb")) if hidden not in one.parts]
    if not paths:
        parser.error(f"there is no notebook in {options.folder}")
    results = {}
    for path in paths:
        print(f"running {path}", file=sys.stderr, flush=True)
        results[str(path.relative_to(options.folder))] = verdicts(path, options.timeout)
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
