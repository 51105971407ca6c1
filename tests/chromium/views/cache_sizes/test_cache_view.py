"""The sizes of caches in a page of their own."""

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.drivers import check_phone
from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestCacheSizes(SampledView):
    script = "views/cache_sizes/samples.py"
    height = 1400
    widths = (390, 360)

    def press(self, root: Locator) -> None:
        for chip in root.locator(".g2h-chip").all():
            chip.click()
            check_phone(root.page, [root])

    def test_bars_have_the_lengths_of_their_sizes(self, view):
        root = view()
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

    def test_a_setting_from_outside_is_moved_into_bounds(self, view):
        assert view().page.evaluate(FROM_OUTSIDE) == [64, 32, 1048576, 1, "0"]


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
