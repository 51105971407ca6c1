"""A folder of notebooks that students handed in becomes a table of what the checks say."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools.teaching import run_submissions

ROOT = Path(__file__).resolve().parents[3]
VERDICTS = [
    "from IPython.display import display\nprint('✘ Exercise 2.1: not yet. Cold.')",
    "1 / 0",
    "class Verdict:\n    def __repr__(self):\n        return '✔ Exercise 10.2: right.'\nVerdict()",
    "print('✔ Exercise 2.1: right. Now.')",
    "print('○ Exercise 2.G1: not tried yet. Fill it in.')",
]


def hand_in(path, sources):
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


def run(*arguments):
    """Run the tool in a process of its own, where the sockets of dead kernels end with it."""
    command = [sys.executable, "-m", "tools.teaching.run_submissions", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_folder_becomes_a_table(tmp_path):
    hand_in(tmp_path / "anna" / "a.ipynb", VERDICTS)
    hand_in(tmp_path / "ben.ipynb", ["print('✘ Exercise 2.1: not yet.')", "open('here', 'w')"])
    hand_in(tmp_path / ".ipynb_checkpoints" / "old.ipynb", VERDICTS)
    (tmp_path / "carl.ipynb").write_text("no notebook", encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert [" ".join(line.split()) for line in run(tmp_path)] == [
        "notebook 2.1 2.G1 10.2 passed",
        "anna/a.ipynb ✔ ○ ✔ 2 of 3",
        "ben.ipynb ✘ – – 0 of 1",
        "carl.ipynb – – – 0 of 0 cannot be read as a notebook",
    ]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [("import os; os._exit(1)", "the kernel died"), ("while True: pass", "a cell took more than")],
)
def test_a_run_that_ends_early_is_named_and_keeps_its_verdicts(tmp_path, source, reason):
    hand_in(tmp_path / "a.ipynb", ["print('✔ Exercise 2.1: right.')", source])
    last = run("--timeout", 20, tmp_path)[-1]
    assert re.fullmatch(rf"a\.ipynb +✔ +1 of 1 +{reason}.*", last)


def test_a_folder_without_notebooks_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run_submissions.main([str(tmp_path)])
    assert "there is no notebook in" in capsys.readouterr().err
