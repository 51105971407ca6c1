"""The views in a page of their own with made-up contents, whatever the chapters hold."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.chromium.samples.together_samples import ATTACK
from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views
from tests.chromium.views.predict.driver import answer_all

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def sample(sample_page) -> tuple[Path, list]:
    return sample_page("samples/together_samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(sample, open_page, mode):
    folder, views = sample
    assert [view.kind for view in views] == [
        *("FrameViewer", "Predict", "Predict", "Predict"),
        *("Pooling", "MetricBench", "FrameViewer"),
    ]
    with served(folder, mode) as site:
        page = open_page(site, "index.html")
        drive(page, views)


def test_two_instances_do_not_move_each_other(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        first, *_, last = ready_views(page, views)
        first.locator("input[type=range]").fill("3")
        expect(first.locator(".g2h-frame")).to_have_attribute("data-index", "3")
        expect(last.locator(".g2h-frame")).to_have_attribute("data-index", "0")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_words_that_look_like_html_run_nothing(sample, open_page, mode):
    folder, views = sample
    with served(folder, mode) as site:
        page = open_page(site, "index.html")
        root = ready_views(page, views)[3]
        for _ in answer_all(root):
            pass
        expect(root.locator(".g2h-result")).to_contain_text(ATTACK)
        expect(root.locator("svg, img")).to_have_count(0)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("typeof attacked") == "undefined"


def test_phone_has_no_sideways_page_scroll(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 360, "height": 740})
        check_phone(page, ready_views(page, views))


def test_themes_change_colours_and_stay_readable(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))


@pytest.mark.parametrize(
    "mark",
    [
        "document.documentElement.dataset.theme = 'dark'",  # the book
        "document.documentElement.setAttribute('theme', 'dark')",  # Colab
        "document.body.dataset.jpThemeLight = 'false'",  # JupyterLab
        "document.documentElement.style.colorScheme = 'dark'",  # any other page
    ],
)
def test_dark_is_known_by_each_hosts_own_mark(sample, open_page, mark):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        root = ready_views(page, views)[0]
        page.evaluate("document.querySelector('style').remove()")
        page.evaluate("delete document.documentElement.dataset.theme")
        light = root.evaluate("node => getComputedStyle(node).color")
        assert light == "rgb(27, 33, 41)"
        page.evaluate(mark)
        expect(root).to_have_css("color", "rgb(228, 233, 240)")


def test_a_closed_view_leaves_no_listener_behind(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        ready_views(page, views)
        left = page.evaluate(CLOSED_VIEW)
    assert left == {"model": 0, "roots": 0, "index": 6}


# A view rendered on a model of the test's own, closed while it plays, and a key pressed afterwards.
CLOSED_VIEW = """async () => {
  const text = JSON.parse(document.querySelector("script[type$='widget-state+json']").textContent);
  const entry = Object.values(text.state).find((m) => m.state.frames);
  const module = URL.createObjectURL(new Blob([entry.state._esm], { type: "text/javascript" }));
  const view = (await import(module)).default;
  const state = { ...entry.state, index: 5, interval_ms: 10 };
  const listeners = new Set();
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; [...listeners].forEach((l) => l()); },
    save_changes() {},
    on: (name, listener) => listeners.add(listener),
    off: (name, listener) => listeners.delete(listener),
  };
  const el = document.createElement("div");
  document.body.append(el);
  const close = view.render({ model, el });
  const root = el.firstChild;
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  close();
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
  await new Promise((done) => setTimeout(done, 60));
  el.remove();
  return { model: listeners.size, roots: el.childElementCount, index: state.index };
}"""


# The twin may come after the view, and two views of one kind may stand on one page.
ADD_TWIN = """(name) => {
  const twin = document.createElement("div");
  twin.className = "g2h-twin";
  twin.id = name;
  twin.textContent = "on paper";
  document.body.append(twin);
}"""


def test_a_prediction_is_on_screen_or_on_paper(sample, open_page):
    folder, views = sample
    twin = views[1].traits["twin"]
    with served(folder, "http") as site:
        page = open_page(site)
        root = ready_views(page, views)[1]
        page.evaluate(ADD_TWIN, twin)
        page.evaluate(ADD_TWIN, "g2h-twin-of-none")
        expect(page.locator(f"#{twin}")).to_be_hidden()
        expect(page.locator("#g2h-twin-of-none")).to_be_visible()
        page.emulate_media(media="print")
        expect(page.locator(f"#{twin}")).to_be_visible()
        expect(root).to_be_hidden()


def test_a_choice_in_one_view_leaves_the_others_alone(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        first, second = ready_views(page, views)[1:3]
        first.get_by_role("radio").nth(1).check()
        second.get_by_role("radio").nth(0).check()
        expect(first.get_by_role("radio").nth(1)).to_be_checked()
        first.get_by_role("button", name="Commit").click()
        expect(first.locator(".g2h-verdict")).to_have_text("Correct.")
        expect(second.locator(".g2h-verdict").first).to_be_empty()
