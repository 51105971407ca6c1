"""The view of a model of code in a page of its own: every control, a phone, themes, keys."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.code_model.small_code import EXAMPLES
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views
from tests.chromium.views.meanwhile import when_it_says

pytestmark = pytest.mark.browser

PRESS_STOP = """(root) => {
  [...root.querySelectorAll("button")].find((one) => one.textContent === "Stop").click();
}"""
TYPE = """(root) => {
  const field = root.querySelector("textarea");
  field.value = "x = 1";
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""


@pytest.fixture(scope="module")
def code(sample_page):
    """Give the folder of a page with one view of a model of code, and its view."""
    return sample_page("views/code_model/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(code, open_page, mode):
    folder, views = code
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out_and_it_answers(code, open_page):
    folder, views = code
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844}, has_touch=True)
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.locator(".g2h-token[data-bits]").nth(2).tap()
        expect(root.locator(".g2h-panel")).to_have_attribute("data-at", "2")
        root.get_by_role("button", name="Continue").click()
        expect(root.locator(".g2h-state")).to_contain_text("The model generated 20 tokens")
        expect(root).to_have_attribute("data-state", "done")
        check_phone(page, [root])


def test_both_themes_can_be_read(code, open_page):
    folder, views = code
    with served(folder, "http") as site:
        page = open_page(site)
        roots = ready_views(page, views)
        check_contrast(page, roots)
        found = Axe().run(page, context=".g2h-view")
        grave = [one for one in found.response["violations"] if one["impact"] != "minor"]
        assert not grave, found.generate_report()


def test_show_me_buttons_tell(code, open_page):
    folder, views = code
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site), views)
        look, state = root.locator(".g2h-look"), root.locator(".g2h-state")
        root.get_by_role("button", name="Greedy").click()
        expect(state).to_contain_text("The model generated 12 tokens")
        expect(look).to_contain_text("Only the most <probable> token is left.")
        root.get_by_role("button", name="Without the cache").click()
        expect(state).to_contain_text("Both runs generated the same tokens.")
        expect(look).to_contain_text("The line rises.")
        assert root.locator("textarea").input_value().startswith(EXAMPLES[0])
        root.get_by_role("button", name="A long text").click()
        expect(root.locator(".g2h-unread")).to_be_visible()
        expect(look).to_contain_text("Its beginning is grey.")


def test_it_stops_and_what_is_typed_meanwhile_wins(code, open_page):
    folder, views = code
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site), views)
        field, state = root.locator("textarea"), root.locator(".g2h-state")
        root.locator("[data-trait=steps]").fill("240")
        root.get_by_label("KV cache").uncheck()
        when_it_says(root, "Generating token", PRESS_STOP)
        root.get_by_role("button", name="Continue").click()
        expect(state).to_contain_text("Stopped after")
        expect(root.get_by_role("button", name="Continue")).to_be_enabled()
        assert field.input_value().startswith(EXAMPLES[0])
        expect(root).to_have_attribute("data-state", "done")
        when_it_says(root, "Generating token", TYPE)
        root.get_by_role("button", name="Continue").click()
        expect(root).to_have_attribute("data-question", '["x = 1"]')
        expect(root).to_have_attribute("data-state", "done")
        expect(root.get_by_role("button", name="Continue")).to_be_enabled()
        expect(field).to_have_value("x = 1")
