"""Every widget of every built chapter, driven control by control against Python's numbers.

Which widgets a page has is read from the notebook's saved state, so a new chapter is covered as
soon as it is built, and a view without a driver fails.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.chromium.samples.saved_views import SavedView, notebook_views
from tests.chromium.sites import ROOT, served
from tests.chromium.views.drivers import (
    check_contrast,
    check_phone,
    drive,
    ready_views,
    repaint_times,
)

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
NOTEBOOKS = [path for path in sorted((ROOT / "chapters").rglob("*.ipynb")) if notebook_views(path)]
each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def built(notebook: Path) -> str:
    page = notebook.relative_to(ROOT).with_suffix(".html")
    if not (BUILT / page).is_file():
        pytest.fail(f"{BUILT / page} is missing: run make book first", pytrace=False)
    return page.as_posix()


def chapter(open_page, site: str, notebook: Path, **options) -> tuple[Page, list[SavedView], list]:
    page = open_page(site, built(notebook), **options)
    views = notebook_views(notebook)
    return page, views, ready_views(page, views)


# How a page reaches its files is one thing for all pages: over http it is asked where readers
# enter. (Samples of every view are driven over http too.)
WAYS = [("file", notebook) for notebook in NOTEBOOKS]
WAYS += [("http", notebook) for notebook in NOTEBOOKS if notebook.stem == "intro"]


def test_a_page_is_driven_over_http():
    assert [mode for mode, _ in WAYS].count("http") == 1


@pytest.mark.parametrize(("mode", "notebook"), WAYS, ids=[f"{m}-{n.stem}" for m, n in WAYS])
def test_every_control_shows_pythons_numbers(mode, notebook, open_page):
    built(notebook)
    with served(BUILT, mode) as site:
        page, views, _ = chapter(open_page, site, notebook)
        drive(page, views)


@each_notebook
def test_phone_has_no_sideways_page_scroll(notebook, open_page):
    built(notebook)
    with served(BUILT, "http") as site:
        phone = {"width": 360, "height": 740}
        page, _, roots = chapter(open_page, site, notebook, viewport=phone)
        check_phone(page, roots)


@each_notebook
def test_themes_change_colours_and_stay_readable(notebook, open_page):
    built(notebook)
    with served(BUILT, "http") as site:
        page, _, roots = chapter(open_page, site, notebook)
        check_contrast(page, roots)


@pytest.mark.timed
@each_notebook
def test_slider_to_repaint_is_reported(notebook, open_page, capsys):
    built(notebook)
    with served(BUILT, "http") as site:
        page, views, roots = chapter(open_page, site, notebook, reduced_motion="no-preference")
        ours = [view for view in views if view.is_ours]
        for view, root in zip(ours, roots, strict=True):
            if not root.locator("input[type=range]").count():
                continue
            times = repaint_times(page, root)
            assert len(times) >= 40
            half, most = times[len(times) // 2], times[int(len(times) * 0.95)]
            with capsys.disabled():
                print(
                    f"\n{notebook.stem} {view.kind}: slider to repaint p50 {half:.1f} ms, "
                    f"p95 {most:.1f} ms ({len(times)} moves)"
                )
