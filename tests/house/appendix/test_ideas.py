"""Every idea of the book has a place, code, tests and, where it moves, a view; all are real."""

import json
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from gates2heads import views as widgets
from gates2heads.book.studies import results_file

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext"))
import stored_tables  # noqa: E402

# What a course that mirrors the five notes must teach, counted by chapter, and their six slips;
# chapters 12 and 13 go beyond the notes.
WANTED = {
    1: 6,
    2: 7,
    3: 6,
    4: 5,
    5: 7,
    6: 7,
    7: 7,
    8: 7,
    9: 7,
    10: 1,
    11: 6,
    12: 7,
    13: 7,
    "notes": 6,
}
IDEAS = stored_tables.read_ideas()
EVERY = [(chapter, entry) for chapter, entries in IDEAS.items() for entry in entries]
NAMES = [f"{chapter}: {entry['idea'][:40]}" for chapter, entry in EVERY]
each_idea = pytest.mark.parametrize(("chapter", "entry"), EVERY, ids=NAMES)
KNOWN = {"idea", "where", "code", "tests", "view", "study"}


@cache
def source_of(notebook):
    """All that the code cells of a notebook say."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def pages_of(entry):
    """The notebooks that an idea's places stand in."""
    known = stored_tables.places()
    found = {known[place].partition(".html")[0] for place in entry["where"] if place in known}
    return [stored_tables.CHAPTERS / f"{name.removeprefix('../')}.ipynb" for name in sorted(found)]


def says(text, name):
    """Whether a text has a name as a word of its own."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def faults(entry):
    """What an entry lacks, one sentence each."""
    found = [f"{key} is no part of an entry" for key in entry.keys() - KNOWN]
    known = stored_tables.places()
    found += [f"no page has {place}" for place in entry["where"] if place not in known]
    found += [f"{name} is no public name" for name in entry["code"] if not is_public(name)]
    tests = {name: ROOT / "tests" / name for name in entry["tests"]}
    found += [f"there is no test {name}" for name, path in tests.items() if not path.is_file()]
    read = [path.read_text(encoding="utf-8") for path in tests.values() if path.is_file()]
    if not any("def test_" in text for text in read):
        found.append("nothing is tested")
    short = [name.rpartition(".")[2] for name in entry["code"]]
    found += [f"no test uses {name}" for name in short if not any(says(t, name) for t in read)]
    pages = "\n".join(map(source_of, pages_of(entry)))
    moves = [entry[kind] for kind in ("view", "study") if kind in entry]
    if not any(says(pages, name) for name in [*short, *moves]):
        found.append("no page of its places uses its code, its study or its view")
    found += [f"no page of its places shows {name}" for name in moves if not says(pages, name)]
    if (view := entry.get("view")) and view not in widgets.__all__:
        found.append(f"{view} is no view")
    if (study := entry.get("study")) and not results_file(study).is_file():
        found.append(f"no study {study} is stored")
    return found


def is_public(name):
    """Whether a dotted name below the library is a function or class that one may use."""
    module, _, last = name.rpartition(".")
    try:
        return not last.startswith("_") and callable(
            getattr(import_module(f"gates2heads.{module}"), last)
        )
    except (ImportError, AttributeError):
        return False


def test_no_idea_is_left_out():
    assert {chapter: len(entries) for chapter, entries in IDEAS.items()} == WANTED


@each_idea
def test_an_idea_has_place_code_test_and_view(chapter, entry):
    assert faults(entry) == []
    if chapter != "notes":
        assert {re.search(r"\d+", place)[0] for place in entry["where"]} == {str(chapter)}


def test_each_chapter_has_a_view():
    moving = {chapter for chapter, entry in EVERY if "view" in entry}
    assert moving == WANTED.keys() - {"notes"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"where": ["1.1", "1.99"]}, "no page has 1.99"),
        (
            {"code": ["layers.recurrent.rnn.Nobody"]},
            "layers.recurrent.rnn.Nobody is no public name",
        ),
        ({"code": ["layers.norms.RMSNorm"]}, "no test uses RMSNorm"),
        ({"tests": ["layers/test_nothing.py"]}, "there is no test layers/test_nothing.py"),
        ({"view": "Kaleidoscope"}, "Kaleidoscope is no view"),
        ({"view": "BeamLaboratory"}, "no page of its places shows BeamLaboratory"),
        ({"study": "nothing"}, "no study nothing is stored"),
        ({"colour": "blue"}, "colour is no part of an entry"),
    ],
)
def test_what_is_missing_is_found(change, fault):
    assert fault in faults(IDEAS[1][0] | change)
