"""No folder of the repository has so many files that nobody can see them all at once."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("_ext", "_static", "benchmarks", "chapters", "docs", "shipping", "src", "studies")
FOLDERS += ("tests", "tools")
MOST = 15
MOST_LINES = 300  # of a module
MADE = {"__pycache__", ".ipynb_checkpoints"}
# One file for each chapter, run or model: who looks for one knows its name.
SERIES = {
    "chapters": "two notebooks at most for each chapter",
    "src/gates2heads/models/weights": "the parameters of each published model",
    "studies/ch10/results/translators": "the outputs of each translator and seed",
}


def numbers(root, folders):
    """How many files lie directly in each folder, without those that programs leave behind."""
    found = Counter()
    for path in (path for folder in folders for path in (root / folder).rglob("*")):
        place = path.relative_to(root)
        left = MADE.intersection(place.parts) or place.parts[-2].endswith(".egg-info")
        if path.is_file() and not left and not place.name.startswith("."):
            found[place.parent.as_posix()] += 1
    return found


def faults(found, series):
    """What is wrong with the numbers of files, one sentence each."""
    told = []
    for folder, number in sorted(found.items()):
        if number > MOST and folder not in series:
            told.append(f"{folder} has {number} files, not at most {MOST}: make folders in it")
    told += [f"{one} need not be listed any more" for one in series if found[one] <= MOST]
    return told


def test_no_folder_has_too_many_files():
    assert faults(numbers(ROOT, FOLDERS), SERIES) == []


@pytest.mark.parametrize(
    ("number", "series", "told"),
    [
        (15, {}, []),
        (16, {}, ["a/b has 16 files, not at most 15: make folders in it"]),
        (16, {"a/b": "a reason"}, []),
        (0, {"a/b": "a reason"}, ["a/b need not be listed any more"]),
    ],
)
def test_one_file_too_many_is_found(tmp_path, number, series, told):
    folder = tmp_path / "a" / "b"
    (folder / "__pycache__").mkdir(parents=True)
    for one in range(number):
        (folder / f"{one}.py").touch()
    for left in ("__pycache__/0.pyc", ".hidden"):
        (folder / left).touch()
    assert faults(numbers(tmp_path, ["a"]), series) == told


def too_long(folder):
    """The modules of a folder with more lines than anybody reads at once."""
    modules = sorted(path for kind in ("*.py", "*.js") for path in folder.rglob(kind))
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    return [f"{path.name} has {size} lines" for path, size in sizes.items() if size > MOST_LINES]


def test_no_module_of_the_library_is_too_long():
    assert too_long(ROOT / "src") == []


def test_one_line_too_many_is_found(tmp_path):
    for name in ("a.py", "b.js"):
        (tmp_path / name).write_text("\n" * 300, encoding="utf-8")
    assert too_long(tmp_path) == []
    (tmp_path / "b.js").write_text("\n" * 301, encoding="utf-8")
    assert too_long(tmp_path) == ["b.js has 301 lines"]
