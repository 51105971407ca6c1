"""Run notebooks from top to bottom and store their outputs, the same bytes for the same results.

    python tools/execute_notebooks.py [--timeout SECONDS] [--as-it-is] [NOTEBOOK …]

Without names, every notebook under chapters/ is run, each in its own folder, by this interpreter.
Before, its figures are numbered in their order (`tools/notebooks/figure_numbers.py`); after, its
cells are folded as their tags `setup`, `draw` and `tell` ask (`tools/notebooks/folding.py`).
--as-it-is runs nothing: it folds, and gives the stored views the library's code of today. What
changes from run to run is not stored:

- the ids of widgets, replaced by their order of creation;
- times, and the version of Python;
- stderr. Progress bars are for whoever watches the run; anything else on stderr is a warning,
  which belongs to the author, and is printed here.

The pictures of views that `tools/notebooks/view_pictures.py` took are kept.

A picture with an empty box instead of a letter is refused: the letter and the cell are named.
A notebook that fails keeps its old file, and the failing cell is named.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gates2heads.browser.live.models import live_model  # noqa: E402
from gates2heads.views.kit.live_view import named  # noqa: E402
from tools.notebooks.figure_numbers import renumber  # noqa: E402
from tools.notebooks.folding import fold  # noqa: E402
from tools.notebooks.stored_pictures import pictures, put_back  # noqa: E402

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
MODELS = {"live", "english"}  # the traits of a view that name models
HANGS = 1800  # no cell of the book takes half an hour, however slow the machine
PROGRESS = re.compile(r"\r|\d+%\||\x1b\[A|^\s*$")
MISSING_GLYPH = re.compile(r"MissingGlyphWarning: (.*)")
ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


class NotebookError(Exception):
    """A notebook that did not run to its end, or whose outputs cannot be stored."""


def execute(path: Path, timeout: float = HANGS, *, run: bool = True) -> float:
    """Run one notebook and store it.

    Args:
        path: the notebook; overwritten, in one step, only after it ran to its end.
        timeout: seconds after which a cell counts as hanging.
        run: False keeps the outputs, folds the cells and renews the code of the views.
    Returns:
        Seconds from the first cell to the last, the start of the kernel included.
    Raises:
        NotebookError: a cell failed or took too long, the kernel died, or the result is not a
            notebook that can be stored; one message with the notebook, the cell and the reason.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise NotebookError(f"{path}: cannot be read as a notebook: {error}") from None
    kept = pictures(notebook)
    begin = time.perf_counter()
    if run:
        notebook.metadata.pop("widgets", None)
        _number_figures(notebook, path)
        _run(path, notebook, timeout)
    else:
        renew_views(notebook)
    seconds = time.perf_counter() - begin
    settle(notebook, path)
    put_back(notebook, kept)
    write(path, notebook)
    return seconds


def _number_figures(notebook: nbformat.NotebookNode, path: Path) -> None:
    try:
        renumber(notebook, str(path))
    except SyntaxError as error:
        raise NotebookError(f"{path}: a cell is no Python: {error}") from None
    except ValueError as error:
        raise NotebookError(error) from None


def _run(path: Path, notebook: nbformat.NotebookNode, timeout: float) -> None:
    at = []
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            km=this_interpreter(Path(folder)),
            timeout=timeout,
            startup_timeout=HANGS,
            record_timing=False,
            resources={"metadata": {"path": str(path.resolve().parent)}},
            on_cell_start=lambda cell, cell_index: at.append(cell_index),
        )
        try:
            # matplotlib keeps a list of fonts; one that was installed since would be missing.
            client.execute(env=os.environ | {"MPLCONFIGDIR": folder})
        except CellExecutionError as error:
            reason = f"{error.ename}: {error.evalue}"
            raise NotebookError(f"{path}: cell {at[-1]} failed: {reason}") from None
        except CellTimeoutError:
            raise NotebookError(f"{path}: cell {at[-1]} took more than {timeout:g} s") from None
        except DeadKernelError:
            raise NotebookError(f"{path}: the kernel died at cell {at[-1]}") from None


def this_interpreter(folder: Path) -> AsyncKernelManager:
    """Return a kernel of the running interpreter, whatever kernels are installed."""
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": [*argv, "--log-level=ERROR"], **METADATA["kernelspec"]}
    (folder / "here").mkdir()
    (folder / "here" / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    found = KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)
    return AsyncKernelManager(kernel_name="here", kernel_spec_manager=found)


def settle(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Take out of an executed notebook, in place, what changes from run to run."""
    notebook.nbformat_minor = max(notebook.nbformat_minor, 5)
    notebook.metadata.update(nbformat.from_dict(METADATA))
    for index, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{index:03}")
        for key in ("execution", "ExecuteTime", "collapsed"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            where = f"{path}: cell {index}"
            cell.outputs = [*_settled_outputs(cell.outputs, where)]
            try:
                fold(cell, where)
            except ValueError as error:
                raise NotebookError(error) from None
    _number_widgets(notebook)


def renew_views(notebook: nbformat.NotebookNode) -> list[str]:
    """Give the stored views, in place, the scripts, styles and models that the library has now.

    Returns:
        The kinds of the views that had others.
    """
    saved = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    stale = []
    for traits in (entry["state"] for entry in saved.values()):
        module, _, kind = traits.get("_anywidget_id", "").rpartition(".")
        if not module.startswith("gates2heads."):
            continue
        view = getattr(importlib.import_module(module), kind)
        now = {"_esm": str(view._esm), "_css": str(view._css)}
        for trait in MODELS & traits.keys():
            now[trait] = [named(live_model(one["name"])) for one in traits[trait]]
        if now != {name: traits.get(name) for name in now}:
            stale.append(kind)
            traits.update(now)
    return stale


def _settled_outputs(outputs: list, where: str) -> list:
    settled = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            for line in output.text.splitlines():
                if boxes := MISSING_GLYPH.search(line):
                    raise NotebookError(f"{where}: {boxes[1]}")
                if not PROGRESS.search(line):
                    print(f"{where} on stderr: {line}", file=sys.stderr)
            continue
        if ADDRESS.search(json.dumps(output.get("data", output.get("text", "")))):
            raise NotebookError(f"{where} shows a memory address, which changes with every run")
        last = settled[-1] if settled else None
        if output.output_type == "stream" and last and last.output_type == "stream":
            # How often the kernel flushes is a matter of time, not of the program.
            last.text += output.text
        else:
            settled.append(output)
    return settled


def _number_widgets(notebook: nbformat.NotebookNode) -> None:
    state = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    text = json.dumps(notebook, ensure_ascii=False)
    for number, model in enumerate(state, start=1):
        text = text.replace(model, f"{number:032x}")
    fresh = nbformat.from_dict(json.loads(text))
    notebook.cells, notebook.metadata = fresh.cells, fresh.metadata


def write(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Write a valid notebook, in one step: an interrupted write keeps the file."""
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise NotebookError(f"{path}: not a valid notebook: {error.message}") from None
    text = nbformat.writes(notebook) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks that the command line names, and print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    parser.add_argument("--timeout", type=float, default=HANGS, help="seconds until a cell hangs")
    parser.add_argument(
        "--as-it-is", action="store_true", help="fold, renew the views, run nothing"
    )
    options = parser.parse_args(arguments)
    notebooks = options.notebooks or sorted((ROOT / "chapters").rglob("[!.]*.ipynb"))
    failures = 0
    for path in notebooks:
        try:
            print(
                f"{path}: {execute(path, options.timeout, run=not options.as_it_is):.1f} s",
                flush=True,
            )
        except NotebookError as failure:
            failures += 1
            print(failure, file=sys.stderr, flush=True)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
