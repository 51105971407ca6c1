"""The scaling explorer in a page of its own."""

import pytest
from playwright.sync_api import expect

from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestScalingExplorer(SampledView):
    script = "views/scaling_explorer/samples.py"
    widths = (390, 360)

    def test_runs_are_where_the_axes_say(self, view):
        root = view()
        chart = root.locator(".g2h-chart").first
        expect(chart.locator(".g2h-predicted title")).to_have_text("larger: loss 3.90")
        place = {
            name: chart.locator(f"text:text-is('{name}')").bounding_box()
            for name in ("10¹³", "10¹⁴")
        }
        middle = {name: box["x"] + box["width"] / 2 for name, box in place.items()}
        run = chart.locator(".g2h-predicted").bounding_box()
        # 6 × 2.16 million × 8 million = 1.04 × 10¹⁴
        width = middle["10¹⁴"] - middle["10¹³"]
        wanted = middle["10¹⁴"] + 0.0157 * width
        assert run["x"] + run["width"] / 2 == pytest.approx(wanted, abs=1.5)
