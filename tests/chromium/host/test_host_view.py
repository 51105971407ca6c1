"""The host of the built pages: what it shows, how often, and what it says when a view fails."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests import hangs
from tests.chromium.samples.page import write_page
from tests.chromium.sites import served

pytestmark = pytest.mark.browser
both_ways = pytest.mark.parametrize("mode", ["http", "file"])

COUNTER = """
globalThis.modules_run = (globalThis.modules_run ?? 0) + 1;
function initialize() {
  globalThis.initialized = (globalThis.initialized ?? 0) + 1;
}
function render({ model, el }) {
  const button = document.createElement("button");
  const draw = () => {
    button.textContent = `${model.get("name")} ${model.get("count")} of ${model.get("most").getUint8(0)}`;
  };
  button.addEventListener("click", () => {
    model.set("count", model.get("count") + 1);
    model.save_changes();
  });
  model.on("change:count", draw);
  draw();
  el.append(button);
}
export default { initialize, render };
"""  # noqa: E501
BROKEN = 'export default { render() { throw new Error("no picture today"); } };'
STYLE = ".counted { color: rgb(1, 2, 3) }"
NINE = [{"path": ["most"], "encoding": "base64", "data": base64.b64encode(b"\x09").decode()}]
SHEETS = """[...document.querySelectorAll("style")]
  .filter((sheet) => sheet.textContent.includes(".counted")).length"""
SENTENCE = "This view could not be shown; the browser's console gives the reason."


def model(module: str, **traits) -> dict:
    state = {"_esm": module, "_css": STYLE, "count": 0, **traits}
    return {"model_module": "anywidget", "model_name": "AnyModel", "state": state, "buffers": NINE}


def page_of(folder: Path, models: dict, shown: list[str]) -> Path:
    write_page(folder, {"state": {"state": models}, "shown": shown})
    return folder


@both_ways
def test_displays_of_one_model_move_together_and_others_stay(tmp_path, mode, open_page):
    models = {"1": model(COUNTER, name="one"), "2": model(COUNTER, name="two")}
    with served(page_of(tmp_path, models, ["2", "1", "2"]), mode) as site:
        page = open_page(site, "index.html")
        buttons = page.get_by_role("button")
        expect(buttons).to_have_text(["two 0 of 9", "one 0 of 9", "two 0 of 9"])
        buttons.first.click()
        expect(buttons).to_have_text(["two 1 of 9", "one 0 of 9", "two 1 of 9"])
        assert page.evaluate(SHEETS) == 1
        assert page.evaluate("[modules_run, initialized]") == [1, 2]


@both_ways
def test_a_view_that_fails_says_so_and_leaves_the_others_alone(tmp_path, mode, chromium):
    models = {
        "1": model(BROKEN),
        "2": {"model_module": "@jupyter-widgets/controls", "model_name": "IntSliderModel"},
        "3": model("export default {"),
        "4": model(COUNTER, name="last"),
    }
    with served(page_of(tmp_path, models, ["1", "2", "gone", "3", "4"]), mode) as site:
        context = chromium.new_context()
        context.set_default_timeout(hangs.PAGE)
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(error.message))
        page.goto(site + "index.html")
        expect(page.get_by_role("button")).to_have_text("last 0 of 9")
        expect(page.get_by_role("alert")).to_have_text([SENTENCE] * 4)
        context.close()
    assert errors[:3] == [
        "no picture today",
        "The host shows views made with anywidget, got IntSliderModel.",
        "The page holds no state for the view gone.",
    ]
    assert len(errors) == 4
