"""The head explorer in a page of its own: the results that are stored for its buttons."""

import re

import pytest
from playwright.sync_api import expect

from tests.chromium.live.scripts import STORED
from tests.chromium.sites import served
from tests.chromium.views.drivers import drive
from tests.chromium.views.head_explorer.driver import ROUNDING, Explorer
from tests.chromium.views.head_explorer.samples import EXAMPLES, SHOW_ME

pytestmark = pytest.mark.browser
BY_DIGITS = re.compile(r"\(to within [\d.]+\)| \([\d.]+ s, in your browser\)")


@pytest.fixture
def opened(sample_page, open_page):
    """A page with stored results, whose reader has agreed to nothing, and the files it fetched."""
    folder, _ = sample_page("views/head_explorer/stored_samples.py")
    with served(folder, "http") as site:
        page = open_page(site, "index.html", agrees=False)
        fetched = []
        page.on("request", lambda request: fetched.append(request.url))
        root = page.locator(".g2h-head-explorer")
        expect(root).to_have_attribute("data-state", "recorded")
        yield Explorer(page, root, EXAMPLES[0]), fetched


def show(view: Explorer, place: int) -> dict:
    """Click a button, compare the answer with Python's, and give what the page says."""
    label, look, state = SHOW_ME[place]
    view.root.get_by_role("button", name=label).click()
    view.typed = state["text"]
    view.off = tuple((layer, head) for layer, head in state["off"])
    view.positions, view.layer = state.get("positions", True), state.get("layer", view.layer)
    view.check_weights(view.check())
    expect(view.root.locator(".g2h-look")).to_have_text(look)
    return view.facts() | {"told": view.state.inner_text()}


def asks(view: Explorer) -> int:
    return view.root.locator(".g2h-ask").count()


def test_a_button_shows_its_stored_result_and_loads_nothing(opened):
    view, fetched = opened
    for place in (1, 0, 1):
        told = show(view, place)["told"]
        assert STORED in told
        assert "The translation changes." in told or "does not change." in told
    view.root.get_by_role("button", name="Reset").click()  # the complete model's is stored, too
    view.positions = True
    view.check()
    assert view.facts()["words"] == EXAMPLES[1].rstrip(".").split()
    view.root.locator(".g2h-chip[data-place='0']").click()
    view.typed = EXAMPLES[0]
    view.check()
    view.root.locator(".g2h-looks").first.click()
    view.choose(2, 1)
    view.page.wait_for_timeout(300)
    assert asks(view) == 0
    assert not [url for url in fetched if "/live/" in url]


def test_every_control_shows_pythons_numbers(sample_page, open_page):
    folder, views = sample_page("views/head_explorer/stored_samples.py")
    with served(folder, "http") as site:
        drive(open_page(site, "index.html"), views)


def test_what_is_not_stored_asks_and_a_button_takes_the_question_away(opened):
    view, fetched = opened
    view.switches.first.uncheck()
    expect(view.root.locator(".g2h-ask")).to_have_count(1)
    show(view, 0)
    assert asks(view) == 0
    assert not [url for url in fetched if "/live/" in url]


def test_the_live_answer_equals_the_stored_one(opened):
    view, _ = opened
    stored = [show(view, place) for place in (0, 1)]
    view.field.fill("Ein Hund.")
    view.root.locator(".g2h-ask").get_by_role("button").click()
    expect(view.root).to_have_attribute("data-state", "done", timeout=60_000)
    for place in (0, 1):
        live = show(view, place)
        expect(view.root).to_have_attribute("data-state", "done")
        same(stored[place], live)


def same(stored: dict, live: dict) -> None:
    """Equal but for the time that the live answer took, and the precision of stored weights."""
    assert STORED in stored["told"]
    assert STORED not in live["told"]
    heard = [BY_DIGITS.sub("", one["told"]).replace(STORED, "") for one in (stored, live)]
    assert heard[0].endswith(heard[1].strip())
    for part in ("written", "notes", "words", "off"):
        assert stored[part] == live[part]
    for one, other in zip(stored["weights"], live["weights"], strict=True):
        assert one == pytest.approx(other, abs=ROUNDING)
