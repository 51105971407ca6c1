"""The leaderboard in a page of its own."""

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestLeaderboard(SampledView):
    script = "views/leaderboard/samples.py"
    height = 1350

    def press(self, root: Locator) -> None:
        root.locator("select").nth(1).select_option("2")
        root.get_by_role("textbox").fill("A dog runs on the beach.")
        expect(root.locator(".g2h-you")).to_have_count(1)

    def test_a_mark_can_be_pressed_as_its_row_can(self, view):
        root = view()
        root.locator(".g2h-picture [data-place='3'] rect").click()
        rung = root.locator(".g2h-rung-name[data-place='3']")
        expect(rung).to_have_attribute("aria-pressed", "true")
        row = root.locator(".g2h-readings tr", has_text="heads").first
        assert "g2h-picked" in row.get_attribute("class")
