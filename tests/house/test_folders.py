"""No folder of the repository has so many files that nobody can see them all at once."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("_ext", "_static", "benchmarks", "chapters", "docs", "shipping", "src", "studies")
FOLDERS += ("tests", "tools")
MOST = 15
MADE = {"__pycache__", ".ipynb_checkpoints"}
# One file for each chapter, run or model: who looks for one knows its name.
SERIES = {
    "chapters": "two notebooks at most for each chapter",
    "src/gates2heads/models/weights": "the parameters of each published model",
    "studies/ch10/results/translators": "the outputs of each translator and seed",
}
# Folders with more than that so far, each with the number that it may not exceed.
NOT_YET = {
    "src/gates2heads/browser/engine/layers": (17, "the stored views have the paths"),
    "src/gates2heads/decoding": (18, "chapters import the modules from here"),
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


def faults(found, series, not_yet):
    """What is wrong with the numbers of files, one sentence each."""
    told = []
    for folder, number in sorted(found.items()):
        most, _ = not_yet.get(folder, (MOST, ""))
        if number > most and folder not in series:
            told.append(f"{folder} has {number} files, not at most {most}: make folders in it")
    listed = [*series, *not_yet]
    told += [f"{one} need not be listed any more" for one in listed if found[one] <= MOST]
    return told


def test_no_folder_has_too_many_files():
    assert faults(numbers(ROOT, FOLDERS), SERIES, NOT_YET) == []


@pytest.mark.parametrize(
    ("number", "series", "not_yet", "told"),
    [
        (15, {}, {}, []),
        (16, {}, {}, ["a/b has 16 files, not at most 15: make folders in it"]),
        (16, {"a/b": "a reason"}, {}, []),
        (17, {}, {"a/b": (17, "a reason")}, []),
        (
            18,
            {},
            {"a/b": (17, "a reason")},
            ["a/b has 18 files, not at most 17: make folders in it"],
        ),
        (15, {}, {"a/b": (17, "a reason")}, ["a/b need not be listed any more"]),
        (0, {"a/b": "a reason"}, {}, ["a/b need not be listed any more"]),
    ],
)
def test_one_file_too_many_is_found(tmp_path, number, series, not_yet, told):
    folder = tmp_path / "a" / "b"
    (folder / "__pycache__").mkdir(parents=True)
    for one in range(number):
        (folder / f"{one}.py").touch()
    for left in ("__pycache__/0.pyc", ".hidden"):
        (folder / left).touch()
    assert faults(numbers(tmp_path, ["a"]), series, not_yet) == told
