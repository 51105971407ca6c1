"""Every page by axe-core, in both themes: nothing serious stands in the way of any reader."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.chromium.samples.saved_views import notebook_views
from tests.chromium.sites import ROOT, served
from tests.chromium.views.drivers import ready_views
from tests.scrolling import TO_THE_END
from tools.book.view_heights import SETTLED

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
        opened.evaluate(SETTLED)
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
            """() => [...document.querySelectorAll("#main-content :is(pre, figure," +
                 " .cell_output > .output, .pst-scrollable-table-container)")]
               .filter((box) => box.checkVisibility() && box.clientWidth)
               .map((box) => [
                 box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight,
                 box.tabIndex === 0])"""
        )
    assert {True, False} == {scrolls for scrolls, _ in boxes}
    assert [box for box in boxes if box[0] != box[1]] == []


def test_what_is_read_aloud_is_what_stands_there(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, "chapters/01_recurrent_gates.html")
        expect(page.get_by_text("Toggle hidden content")).to_have_count(0)
        folds = page.locator("#main-content details.hide > summary")
        assert folds.count() > 5
        assert page.locator("#main-content summary[aria-label]").count() == 0
        assert page.locator("#main-content th:is(:empty, :has(> p:only-child:empty))").count() == 0
        page.goto(f"{site}chapters/appendix/bibliography.html")
        assert page.locator(".citation").count() > 100
        assert page.locator(".citation[role], .citation-list[role]").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_a_control_is_large_enough_to_hit(open_page, width):
    """24 pixels each way, or as much room around it; and no name is missing or repeated."""
    rules = ["target-size", "button-name", "link-name", "label", "landmark-unique"]
    with served(BUILT, "http") as site:
        for name in ("03_sequence_probability", "04_sequence_to_sequence", "08_decoding"):
            size = {"width": width, "height": 844}
            page = open_page(site, f"chapters/{name}.html", viewport=size)
            page.evaluate(SETTLED)
            page.evaluate(TO_THE_END)
            only = {"type": "rule", "values": rules}
            answer = Axe().run(page, options={"preload": False, "runOnly": only}).response
            assert {"target-size", "button-name"} <= {one["id"] for one in answer["passes"]}
            found = answer["violations"]
            assert [(one["id"], one["nodes"][0]["target"]) for one in found] == [], name


def test_nothing_moves_by_itself(open_page):
    """The book has no animation: also not for readers who did not ask for calm."""
    with served(BUILT, "http") as site:
        page = open_page(site, "chapters/08_decoding.html", reduced_motion="reduce")
        page.evaluate(TO_THE_END)
        assert page.evaluate("document.getAnimations().length") == 0
        smooth = "getComputedStyle(document.documentElement).scrollBehavior"
        assert page.evaluate(smooth) == "auto"


def test_no_formula_stops_the_tabulator(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, "chapters/05_attention.html")
        formulas = page.locator(".math .katex")
        assert formulas.count() > 50
        assert page.locator(".math .katex-mathml math").count() == formulas.count()
        assert page.locator(".math [tabindex], .math a, .math button").count() == 0
