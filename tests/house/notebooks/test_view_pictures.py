"""Each view of a notebook has its picture stored beside it, and running the notebook keeps it."""

import base64
import copy
import json
from pathlib import Path

import pytest

from tools.notebooks.stored_pictures import PICTURE, STATE, VIEW, pictures, put_back, shown_views

CHAPTERS = sorted((Path(__file__).parents[3] / "chapters").glob("*.ipynb"))
MOST, MOST_IN_ALL = 90_000, 2_000_000  # bytes


def stored(chapter):
    return json.loads(chapter.read_text(encoding="utf-8"))


def without_pictures(notebook):
    """A notebook as a fresh run leaves it."""
    fresh = copy.deepcopy(notebook)
    for view in shown_views(fresh):
        del view.output["data"][PICTURE], view.output["metadata"][PICTURE]
    return fresh


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_each_view_has_a_picture_that_says_what_it_shows(chapter):
    for view in shown_views(stored(chapter)):
        assert view.picture(), f"{view.alt()} in cell {view.at[0]} has no picture: make pictures"
        assert len(base64.b64decode(view.picture())) < MOST


def test_together_they_are_small_and_no_view_is_overlooked():
    notebooks = list(map(stored, CHAPTERS))
    found = [picture for notebook in notebooks for picture, _ in pictures(notebook).values()]
    outputs = [
        out for book in notebooks for cell in book["cells"] for out in cell.get("outputs", ())
    ]
    assert len(found) == sum(VIEW in output.get("data", {}) for output in outputs) > 0
    assert sum(len(base64.b64decode(picture)) for picture in found) < MOST_IN_ALL


def test_a_run_keeps_the_pictures():
    notebook = stored(CHAPTERS[0])
    fresh = without_pictures(notebook)
    assert pictures(notebook)
    assert not pictures(fresh)
    put_back(fresh, pictures(notebook))
    assert fresh == notebook


def test_a_view_that_says_something_else_loses_its_picture():
    notebook = stored(CHAPTERS[0])
    fresh = without_pictures(notebook)
    first, *others = shown_views(fresh)
    model = first.output["data"][VIEW]["model_id"]
    fresh["metadata"]["widgets"][STATE]["state"][model]["state"]["hint"] = "Another hint."
    put_back(fresh, pictures(notebook))
    assert not first.picture()
    assert PICTURE not in first.output["data"]
    assert all(view.picture() for view in others)
