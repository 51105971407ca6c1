"""Every page by axe-core, in both themes: nothing serious stands in the way of any reader."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import ROOT, served
from saved_widgets import notebook_views
from widget_drivers import ready_views

from tests.scrolling import TO_THE_END

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
# From the sources: the tests are collected before the book is built.
PAGES = sorted(
    path.relative_to(ROOT).with_suffix(".html").as_posix()
    for path in (ROOT / "chapters").rglob("*")
    if path.suffix in {".ipynb", ".md"} and not path.parent.name.startswith(".")
)
GRAVE = {"serious", "critical"}
# A theme changes colours and nothing else: what they must be is asked again, the rest once.
OPTIONS = {
    "light": {"preload": False, "resultTypes": ["violations"]},
    "dark": {
        "preload": False,
        "resultTypes": ["violations"],
        "runOnly": ["color-contrast", "link-in-text-block"],
    },
}


def test_every_built_page_is_tested():
    built = (BUILT / "chapters").rglob("*.html")
    assert sorted(path.relative_to(BUILT).as_posix() for path in built) == PAGES


@pytest.mark.parametrize("theme", OPTIONS)
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_serious(page, theme, open_page):
    with served(BUILT, "http") as site:
        opened = open_page(site, page, color_scheme=theme)
        opened.wait_for_load_state("networkidle")
        notebook = (ROOT / page).with_suffix(".ipynb")
        if notebook.is_file():
            ready_views(opened, notebook_views(notebook))
        opened.evaluate(TO_THE_END)
        answer = Axe().run(opened, options=OPTIONS[theme]).response
    assert {"color-contrast"} <= {one["id"] for one in answer["passes"] + answer["violations"]}
    found = answer["violations"]
    told = [
        (one["id"], node["target"], (node.get("failureSummary") or "")[:300])
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"][:5]
    ]
    assert told == []


def test_a_box_that_scrolls_is_a_stop_and_no_other_is(open_page):
    with served(BUILT, "http") as site:
        phone = {"width": 390, "height": 844}
        page = open_page(site, "chapters/06_self_attention.html", viewport=phone)
        page.evaluate(TO_THE_END)
        boxes = page.evaluate(
            """() => [...document.querySelectorAll(
                 "#main-content :is(pre, .cell_output > .output, .pst-scrollable-table-container)")]
               .filter((box) => box.checkVisibility() && box.clientWidth)
               .map((box) => [
                 box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight,
                 box.tabIndex === 0])"""
        )
    assert {True, False} == {scrolls for scrolls, _ in boxes}
    assert [box for box in boxes if box[0] != box[1]] == []


def test_no_formula_stops_the_tabulator(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, "chapters/05_attention.html")
        formulas = page.locator(".math .katex")
        assert formulas.count() > 50
        assert page.locator(".math .katex-mathml math").count() == formulas.count()
        assert page.locator(".math [tabindex], .math a, .math button").count() == 0
