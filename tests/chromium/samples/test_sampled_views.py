"""Every view that the library has, and every one that a chapter shows, has a sample to drive."""

from pathlib import Path

import pytest

from gates2heads import views as widgets
from tests.chromium.samples import together_samples
from tests.chromium.samples.by_view import LINKED, MADE_ALONE, MADE_TOGETHER, OTHER_STATES
from tests.chromium.samples.saved_views import notebook_views, shown_views
from tests.chromium.sites import ROOT

CHROMIUM = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))


@pytest.fixture(scope="module")
def sampled() -> set[str]:
    saved = together_samples.saved(together_samples.samples())
    together = {view.kind for view in shown_views(saved["state"], saved["shown"]) if view.is_ours}
    return together | set(MADE_ALONE.values())


def test_no_sample_is_left_out():
    scripts = {path.relative_to(CHROMIUM).as_posix() for path in CHROMIUM.rglob("*samples.py")}
    assert scripts == {*MADE_ALONE, *OTHER_STATES, MADE_TOGETHER, LINKED}


def test_every_view_of_the_library_is_sampled(sampled):
    views = {name for name in widgets.__all__ if hasattr(getattr(widgets, name), "_esm")}
    assert views == sampled


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_view_of_a_chapter_is_sampled(notebook, sampled):
    assert {view.kind for view in notebook_views(notebook) if view.is_ours} <= sampled
