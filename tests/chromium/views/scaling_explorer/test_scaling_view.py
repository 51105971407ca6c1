"""The view of a scaling law in a page of its own: every control, a phone, themes."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def law(sample_page):
    """Give the folder of a page with one view, and the view."""
    return sample_page("views/scaling_explorer/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(law, open_page, mode):
    folder, views = law
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_nothing_sticks_out(law, open_page, width):
    folder, views = law
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": width, "height": 844})
        check_phone(page, ready_views(page, views))


def test_both_themes_can_be_read(law, open_page):
    folder, views = law
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))


def test_runs_are_where_the_axes_say(law, open_page):
    folder, views = law
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site), views)
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
