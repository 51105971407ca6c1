"""The leaderboard in a page of its own."""

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser
# of each mark its centre, and the height of its label
MARKS = """groups => groups.map((group) => {
  const [mark, label] = ["circle, rect, path", "text"].map((kind) =>
    group.querySelector(kind).getBoundingClientRect());
  return [mark.x + mark.width / 2, mark.y + mark.height / 2, label.y + label.height / 2];
})"""


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

    def test_labels_of_close_marks_keep_their_order_on_a_phone(self, view):
        root = view(viewport={"width": 390, "height": 844})
        marks = root.locator(".g2h-picture .g2h-rung").evaluate_all(MARKS)
        close = [
            down * label
            for n, (x, y, text) in enumerate(marks)
            for across, down, label in ((x - a, y - b, text - c) for a, b, c in marks[:n])
            if abs(across) < 40 and abs(down) < 40
        ]
        assert close
        assert min(close) >= 0
