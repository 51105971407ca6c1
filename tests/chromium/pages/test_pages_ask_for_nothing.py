"""Reading a page, as far as a mouse, a wheel and the tab key go, asks for no model."""

import pytest

from tests.chromium.sites import ROOT, served
from tools.book.site_check import pages

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
MOST_TABS = 60  # into the first views of a page; what follows is focused one by one
FOCUS_ALL = """() => document.querySelectorAll(".g2h-view :is(button, input, select, textarea,"
  + " [tabindex])").forEach((node) => node.focus())"""


def read(page) -> int:
    """Scroll to the end, point at every view, tab along; give how many views there are."""
    height = page.evaluate("document.scrollingElement.scrollHeight")
    for _ in range(0, height, 450):
        page.mouse.wheel(0, 450)
        page.wait_for_timeout(20)
    roots = page.locator(".g2h-view").all()
    for root in roots:
        root.scroll_into_view_if_needed()
        box = root.bounding_box()
        for share in (0.1, 0.4, 0.7, 0.95):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])
    if roots:
        roots[0].scroll_into_view_if_needed()
        for _ in range(MOST_TABS):
            page.keyboard.press("Tab")
        page.evaluate(FOCUS_ALL)
    page.wait_for_timeout(200)
    return len(roots)


def test_no_page_asks_for_an_engine_or_a_model_before_it_is_used(open_page):
    built = pages(BUILT)
    if not built:
        pytest.fail("there is no built book: run make book first", pytrace=False)
    views, fetched = 0, []
    with served(BUILT, "http") as site:
        for path in built:
            name = path.relative_to(BUILT).as_posix()
            page = open_page(site, agrees=False)
            page.on(
                "request",
                lambda one, name=name: "/live/" in one.url and fetched.append((name, one.url)),
            )
            page.goto(site + name)
            page.wait_for_load_state("networkidle")
            views += read(page)
            page.context.close()
        assert fetched == []
        assert views > 30
        # Nothing comes for an example either, whose result is stored; the same watch sees what a
        # text of one's own asks for.
        page = open_page(site, "chapters/intro.html", agrees=True)
        page.on("request", lambda one: "/live/" in one.url and fetched.append(one.url))
        for place in range(1, 10):
            page.locator(".g2h-translate .g2h-example").nth(place).click()
            page.wait_for_selector(".g2h-translate[data-state=recorded]:not([data-stale])")
        assert fetched == []
        page.locator(".g2h-translate textarea").fill("Ein Hund.")
        page.wait_for_selector(".g2h-translate[data-state=done]")
        assert len(fetched) == 2
