"""The views in a page of their own with made-up contents, whatever the chapters hold."""

from pathlib import Path

import pytest
from conftest import served
from playwright.sync_api import expect
from widget_drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def sample(sample_page) -> tuple[Path, list]:
    return sample_page("widget_samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(sample, open_page, mode):
    folder, views = sample
    assert [view.kind for view in views] == [
        *("AlignmentExplorer", "FrameViewer", "AlignmentExplorer"),
        *("Predict", "Predict", "Pooling", "MetricBench", "IntSliderModel", "FrameViewer"),
    ]
    with served(folder, mode) as site:
        page = open_page(site, "index.html")
        drive(page, views)


def test_two_instances_do_not_move_each_other(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        first, _, second, *_ = ready_views(page, views)
        first.locator("input[type=range]").fill("3")
        expect(first.locator(".g2h-live")).to_contain_text("step 4 ")
        expect(second.locator(".g2h-live")).to_contain_text("step 1 ")


def test_linked_slider_moves_the_frames_and_is_held_inside(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        frames = ready_views(page, views)[-1].locator(".g2h-frame")
        readout = page.locator(".widget-readout")
        readout.fill("4")
        readout.press("Enter")
        expect(frames).to_have_attribute("data-index", "4")
        readout.fill("9")
        readout.press("Enter")
        expect(frames).to_have_attribute("data-index", "6")
        expect(readout).to_have_text("6")


def test_right_to_left_text_keeps_its_order(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site)
        root = ready_views(page, views)[0]
        root.locator("select").first.select_option(index=2)
        boxes = [cell.bounding_box()["x"] for cell in root.locator(".g2h-source").all()]
        assert boxes == sorted(boxes, reverse=True)
        written = [token.bounding_box()["x"] for token in root.locator(".g2h-target").all()]
        assert written == sorted(written)


def test_phone_has_no_sideways_page_scroll(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 360, "height": 740})
        check_phone(page, ready_views(page, views))


def test_on_a_phone_names_cover_neither_the_peak_nor_what_is_written(sample, open_page):
    folder, views = sample
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        root = ready_views(page, views)[0]
        slider = root.locator("input[type=range]")
        for sentence in (1, 2):  # the longest, and one from right to left
            root.locator("select").first.select_option(index=sentence)
            for step in range(int(slider.get_attribute("max")) + 1):
                slider.fill(str(step))
                expect(root.locator(".g2h-picture")).to_have_attribute("data-step", str(step))
                assert root.evaluate(COVERED) == [], (sentence, step)


# What of the peak, its row's cell and the written tokens lies under a name or outside of the box.
COVERED = """async (root) => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const box = (node) => node.getBoundingClientRect();
  const peak = root.querySelector(".g2h-peak");
  const cell = root.querySelector(
    `.g2h-row.g2h-shown .g2h-cell[data-position="${peak.dataset.position}"]`);
  const names = [...root.querySelectorAll(".g2h-name, .g2h-label")].map(box);
  const out = box(root.querySelector(".g2h-scroll"));
  return [peak, cell, ...root.querySelectorAll(".g2h-target")].filter((node) => {
    const { left, right, top, bottom } = box(node);
    const under = names.some((name) => left < name.right - 1 && right > name.left + 1
      && top < name.bottom - 1 && bottom > name.top + 1);
    return under || left < out.left - 1 || right > out.right + 1;
  }).map((node) => node.className + " " + node.textContent);
}"""


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
    twin = views[3].traits["twin"]
    with served(folder, "http") as site:
        page = open_page(site)
        root = ready_views(page, views)[3]
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
        first, second = ready_views(page, views)[3:5]
        first.get_by_role("radio").nth(1).check()
        second.get_by_role("radio").nth(0).check()
        expect(first.get_by_role("radio").nth(1)).to_be_checked()
        first.get_by_role("button", name="Commit").click()
        expect(first.locator(".g2h-verdict")).to_have_text("Right.")
        expect(second.locator(".g2h-verdict").first).to_be_empty()
