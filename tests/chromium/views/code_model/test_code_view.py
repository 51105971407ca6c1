"""The view of a model of code in a page of its own."""

import json

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.code_model.small_code import EXAMPLES
from tests.chromium.views.meanwhile import when_it_says
from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser

PRESS_STOP = """(root) => {
  [...root.querySelectorAll("button")].find((one) => one.textContent === "Stop").click();
}"""
TYPE = """(root) => {
  const field = root.querySelector("textarea");
  field.value = "x = 1";
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""
ABOVE_THE_FIRST_TOKEN = """(picture) => {
  const [box, unread, token] = [
    picture,
    picture.querySelector(".g2h-unread"),
    picture.querySelector("[data-bits]"),
  ].map((node) => node.getBoundingClientRect());
  return { above: token.top - box.top, height: box.height, unread: unread.height };
}"""


class TestCodeModel(SampledView):
    script = "views/code_model/samples.py"
    height = 1500

    def press(self, root: Locator) -> None:
        root.locator(".g2h-token[data-bits]").nth(2).tap()
        expect(root.locator(".g2h-panel")).to_have_attribute("data-at", "2")
        root.get_by_role("button", name="Continue").click()
        expect(root.locator(".g2h-state")).to_contain_text("The model generated 20 tokens")
        answered(root)

    def test_show_me_buttons_tell(self, view):
        root = view()
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

    def test_the_first_token_that_was_read_is_in_sight(self, view):
        root = view()
        text = "a = 1\n" * 300
        root.locator("textarea").fill(text)
        expect(root).to_have_attribute("data-question", json.dumps([text], separators=(",", ":")))
        expect(root).to_have_attribute("data-state", "done")
        seen = root.get_by_role("listbox").evaluate(ABOVE_THE_FIRST_TOKEN)
        assert seen["unread"] > seen["height"]
        assert 0 < seen["above"] < seen["height"] / 2

    def test_it_stops_and_what_is_typed_meanwhile_wins(self, view):
        root = view()
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
