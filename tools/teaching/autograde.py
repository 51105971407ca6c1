"""Tests of the exercises for otter-grader, and a table of marks from the notebooks of a class.

    python tools/teaching/autograde.py environment          make .venv-otter, with otter-grader
    python tools/teaching/autograde.py write                write _build/class/autograde/
    python tools/teaching/autograde.py grade FOLDER [--to marks.csv] [--timeout SECONDS]

`write` makes a folder for each page with exercises: a test for each exercise, worth one point,
which calls the book's own check, and `autograder.zip`, which otter-grader takes. `grade` runs each
notebook in FOLDER/STUDENT/ with the autograder of its chapter, which it finds by the file's name,
and writes a row for each exercise: student, page, exercise, points, possible, comment.

Grading runs code that others wrote, with your rights and your network: run it in a container that
holds nothing of value. A submission can forge its marks, since its code runs beside the tests.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.teaching.class_edition import CLASS, test_name  # noqa: E402
from tools.teaching.without_solutions import chapters, check_of  # noqa: E402

OTTER = ROOT / ".venv-otter"
AUTOGRADERS = CLASS / "autograde"
# otter-grader, and what it needs beyond the book's own environment; it needs an older wrapt.
PINS = {
    "otter-grader": "7.0.0",
    "dill": "0.4.1",
    "fica": "0.4.1",
    "ipylab": "1.1.0",
    "jupytext": "1.19.6",
    "pandas": "3.1.1" if sys.version_info >= (3, 11) else "2.3.3",
    "python-frontmatter": "1.3.0",
    "python-on-whales": "0.81.0",
    "wrapt": "1.17.3",
    **({} if sys.version_info >= (3, 11) else {"pytz": "2025.2"}),
}
HEADER = ("student", "page", "exercise", "points", "possible", "comment")
# Errors of reading a file that is not a notebook.
UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    nbformat.ValidationError,
    nbformat.reader.NotJSONError,
)
NO_PAGE = "the name contains no name of a chapter"
MINUTES = 20  # until a submission counts as hanging
TEST = '''"""{exercise}, graded by the book's own check."""

from otter.test_files import test_case

OK_FORMAT = False
name = "{name}"
points = 1


@test_case(points=1)
def graded(env):
    from {module} import {check}

    answers = {answers}
    verdict = {check}(*(env.get(answer, ...) for answer in answers))
    assert verdict.passed, verdict.message
'''
# Both run under the interpreter of .venv-otter.
GENERATE = """
import os, sys
from otter.generate import main
for folder in sys.argv[1:]:
    os.chdir(folder)
    main(tests_dir="tests", output_path="autograder.zip", no_config=True, no_environment=True)
"""
# A notebook and an autograder → the marks as JSON.
GRADE = """
import json, sys
from otter.api import grade_submission
results = grade_submission(sys.argv[1], sys.argv[2], quiet=True)
if results.has_catastrophic_failure():
    raise SystemExit("the notebook did not run to its end")
marks = {
    one.name: [one.score, one.possible, [case.message or "" for case in one.test_case_results]]
    for one in results.results.values()
}
open(sys.argv[3], "w", encoding="utf-8").write(json.dumps(marks))
"""


def python_of(environment: Path = OTTER) -> Path:
    """Return an environment's interpreter."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment() -> None:
    """Make an environment with otter-grader, which borrows all the rest from this one."""
    shutil.rmtree(OTTER, ignore_errors=True)
    venv.create(OTTER, with_pip=False)
    wanted = [f"{name}=={version}" for name, version in PINS.items()]
    pip = [sys.executable, "-m", "pip", "--python", str(python_of())]
    subprocess.run([*pip, "install", "-q", "--no-compile", "--no-deps", *wanted], check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(OTTER)}))
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (own / "zz_main_environment.pth").write_text(line)
    kernel = OTTER / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    arguments = [str(python_of()), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": arguments, "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec, indent=2) + "\n")


def modules_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The modules that a notebook imports by `from … import …`: their names there → in full."""
    found, as_python = {}, TransformerManager().transform_cell  # %pip is not Python
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(as_python(cell.source))):
            if isinstance(node, ast.ImportFrom):
                found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


def tests_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Write the tests of a chapter: their names → their code.

    Raises:
        ValueError: a check is given something else than variables.
    """
    modules, found = modules_of(notebook), {}
    for cell in notebook.cells:
        if asked := check_of(cell):
            exercise, call, answers = asked
            if not all(map(str.isidentifier, answers)):
                raise ValueError(f"cell {cell.id}: a check is given {answers}, not only variables")
            module, _, check = call.rpartition(".")
            name = test_name(exercise)
            found[name] = TEST.format(
                exercise=f"Exercise {exercise}",
                name=name,
                module=modules[module],
                check=check,
                answers=list(answers),
            )
    return found


def write_autograders(to: Path = AUTOGRADERS) -> list[Path]:
    """Write the tests and the autograder of every page that has exercises."""
    shutil.rmtree(to, ignore_errors=True)
    made = []
    for path in chapters():
        if tests := tests_of(nbformat.read(path, as_version=4)):
            folder = to / path.stem
            (folder / "tests").mkdir(parents=True)
            for name, code in tests.items():
                (folder / "tests" / f"{name}.py").write_text(code, encoding="utf-8")
            made.append(folder)
    subprocess.run([python_of(), "-c", GENERATE, *made], check=True, stdout=subprocess.DEVNULL)
    return made


def page_of(path: Path, known: list[str]) -> str:
    """Find the page that a file is of: the longest name that its own contains, or ""."""
    return max((one for one in known if one in path.stem), key=len, default="")


def marked(notebook: nbformat.NotebookNode, checks: dict[str, str]) -> nbformat.NotebookNode:
    """Mark the cells of the exercises again, since not every editor keeps the marks.

    Args:
        notebook: as it was handed in.
        checks: a check as the notebook writes it, "exercises.check_pool" → the name of its test.
    """
    for cell in notebook.cells:
        cell.metadata.pop("otter", None)
        called = [name for check, name in checks.items() if f"{check}(" in cell.source]
        if cell.cell_type == "code" and called:
            cell.metadata["otter"] = {"tests": called}
    return notebook


def comment_of(message: str) -> str:
    """What the check said, in one line; "" for a test that passed."""
    return " ".join(message.partition("AssertionError:")[2].split())


def graded(path: Path, page: str, timeout: float = 60 * MINUTES) -> list[tuple]:
    """Grade one notebook.

    Returns:
        (exercise, points, possible, comment) for each exercise of the page.
    """
    chapter = nbformat.read(ROOT / "chapters" / f"{page}.ipynb", as_version=4)
    asked = [found for cell in chapter.cells if (found := check_of(cell))]
    checks = {call: test_name(exercise) for exercise, call, _ in asked}
    results, ended = {}, ""
    with tempfile.TemporaryDirectory() as folder:
        copy, answer = Path(folder, f"{page}.ipynb"), Path(folder, "marks.json")
        try:
            nbformat.write(marked(nbformat.read(path, as_version=4), checks), copy)
            command = [python_of(), "-c", GRADE, copy, AUTOGRADERS / page / "autograder.zip"]
            environment = os.environ | {"JUPYTER_PATH": str(OTTER / "share" / "jupyter")}
            with subprocess.Popen(
                [*map(str, command), str(answer)],
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ) as running:
                try:
                    running.wait(timeout)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    ended = f"the notebook took more than {timeout:g} s"
            results = json.loads(answer.read_text(encoding="utf-8"))
        except UNREADABLE:
            ended = ended or "cannot be read as a notebook"
        except OSError:
            ended = ended or "the notebook did not run to its end"
    rows = []
    for exercise, _, _ in asked:
        score, possible, messages = results.get(test_name(exercise), (0, 1, [ended]))
        said = " ".join(filter(None, map(comment_of, messages))) or (ended if not results else "")
        rows.append((exercise, score, possible, said))
    return rows


def grade(folder: Path, to: Path, timeout: float) -> int:
    """Grade every notebook of a folder, and write the table of marks; return its number of rows.

    A line for each notebook says how many points it has. Its rows are written immediately, so that
    what ends the command later loses no marks.
    """
    known, count = [path.name for path in AUTOGRADERS.iterdir()], 0
    with to.open("w", encoding="utf-8", newline="", buffering=1) as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for path in sorted(folder.rglob("*.ipynb")):
            if ".ipynb_checkpoints" in path.parts:
                continue
            student = path.relative_to(folder).parts[0].removesuffix(".ipynb")
            page = page_of(path, known)
            print(f"grading {path}", file=sys.stderr, flush=True)
            marks = graded(path, page, timeout) if page else [("", 0, 0, NO_PAGE)]
            points, possible = (sum(row[at] for row in marks) for at in (1, 2))
            print(f"{student}, {page or path.name}: {points:g} of {possible:g} points", flush=True)
            table.writerows([(student, page or path.name, *row) for row in marks])
            count += len(marks)
    return count


def main(arguments: list[str] | None = None) -> int:
    """Make the environment, write the tests, or grade."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("environment")
    commands.add_parser("write")
    grading = commands.add_parser("grade")
    grading.add_argument("folder", type=Path, metavar="FOLDER")
    grading.add_argument("--to", type=Path, default=Path("marks.csv"), metavar="FILE")
    grading.add_argument("--timeout", type=float, default=60 * MINUTES, metavar="SECONDS")
    options = parser.parse_args(arguments)
    if options.command == "environment":
        make_environment()
    elif options.command == "write":
        print(f"{AUTOGRADERS}: the autograders of {len(write_autograders())} pages.")
    elif not AUTOGRADERS.is_dir():
        parser.error("there is no autograder yet: run make autograde first")
    else:
        print(f"{options.to}: {grade(options.folder, options.to, options.timeout)} rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
