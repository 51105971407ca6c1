"""The view of cache sizes in a page of its own: every control, a phone, themes."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def sizes(sample_page):
    """Give the folder of a page with one view, and the view."""
    return sample_page("views/cache_sizes/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(sizes, open_page, mode):
    folder, views = sizes
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_nothing_sticks_out(sizes, open_page, width):
    folder, views = sizes
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": width, "height": 844})
        (root,) = ready_views(page, views)
        for chip in root.locator(".g2h-chip").all():
            chip.click()
            check_phone(page, [root])


def test_both_themes_can_be_read(sizes, open_page):
    folder, views = sizes
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))


def test_bars_have_the_lengths_of_their_sizes(sizes, open_page):
    folder, views = sizes
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site), views)
        ticks = root.locator(".g2h-ticks span").all_inner_texts()
        assert ticks == ["1 kB", "1 MB", "1 GB", "1 TB"]
        bars = root.locator("[data-own] .g2h-bar").all()
        track = root.locator("[data-own] .g2h-track").bounding_box()["width"] - 2
        lengths = [bar.bounding_box()["width"] / track for bar in bars]
        # Mistral 7B at a window of 4,096: 537 MB and 14.5 GB on an axis from 10³ to 10¹²
        assert lengths == pytest.approx([(8.72989 - 3) / 9, (10.16087 - 3) / 9], abs=0.005)
        expect(root.locator(".g2h-live")).to_contain_text(
            "KV cache: 2 · 32 layers · 8 key–value heads · width 128 · min(8,192; 4,096) positions"
            " · 1 sequence · 2 bytes = 537 MB, 131 kB per token of a sequence."
        )


def test_a_setting_from_outside_is_moved_into_bounds(sizes, open_page):
    folder, views = sizes
    with served(folder, "http") as site:
        page = open_page(site)
        ready_views(page, views)
        assert page.evaluate(FROM_OUTSIDE) == [64, 32, 1048576, 1, "0"]


# A view on a model of the test's own, which something else than its controls sets.
FROM_OUTSIDE = """async () => {
  const text = JSON.parse(document.querySelector("script[type$='widget-state+json']").textContent);
  const { state: saved } = Object.values(text.state).find((m) => m.state.kv_heads);
  const module = URL.createObjectURL(new Blob([saved._esm], { type: "text/javascript" }));
  const view = (await import(module)).default;
  const state = { ...saved, heads: 64 };
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
  model.set("kv_heads", 63);
  model.set("length", 1e9);
  model.set("batch", -4);
  await new Promise((done) => setTimeout(done, 0));
  close();
  return [state.heads, state.kv_heads, state.length, state.batch, String(listeners.size)];
}"""
