"""Every view that the library has, and every one that a chapter shows, has a sample to drive."""

from pathlib import Path

import pytest
import widget_samples
from conftest import ROOT
from sampled_views import LINKED, MADE_ALONE, MADE_TOGETHER, OTHER_STATES
from saved_widgets import notebook_views, shown_views

from gates2heads import views as widgets

HERE = Path(__file__).parent
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))


@pytest.fixture(scope="module")
def sampled() -> set[str]:
    saved = widget_samples.saved(widget_samples.samples())
    together = {view.kind for view in shown_views(saved["state"], saved["shown"]) if view.is_ours}
    return together | set(MADE_ALONE.values())


def test_no_sample_is_left_out():
    scripts = {path.name for path in HERE.glob("*_samples.py")}
    assert scripts == {*MADE_ALONE, *OTHER_STATES, MADE_TOGETHER, LINKED}


def test_every_view_of_the_library_is_sampled(sampled):
    views = {name for name in widgets.__all__ if hasattr(getattr(widgets, name), "_esm")}
    assert views == sampled


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_view_of_a_chapter_is_sampled(notebook, sampled):
    assert {view.kind for view in notebook_views(notebook) if view.is_ours} <= sampled
