"""The leaderboard in a page of its own: every control, a phone, themes."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def board(sample_page):
    """Give the folder of a page with one leaderboard, and its view."""
    return sample_page("views/leaderboard/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(board, open_page, mode):
    folder, views = board
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out_and_it_answers(board, open_page):
    folder, views = board
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.locator("select").nth(1).select_option("2")
        root.get_by_role("textbox").fill("A dog runs on the beach.")
        expect(root.locator(".g2h-you")).to_have_count(1)
        check_phone(page, [root])


def test_both_themes_can_be_read(board, open_page):
    folder, views = board
    with served(folder, "http") as site:
        page = open_page(site)
        roots = ready_views(page, views)
        roots[0].get_by_role("textbox").fill("A dog runs on the beach.")
        check_contrast(page, roots)


def test_a_mark_can_be_pressed_as_its_row_can(board, open_page):
    folder, views = board
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site), views)
        root.locator(".g2h-picture [data-place='3'] rect").click()
        rung = root.locator(".g2h-rung-name[data-place='3']")
        expect(rung).to_have_attribute("aria-pressed", "true")
        assert "g2h-picked" in root.locator(
            ".g2h-readings tr", has_text="heads"
        ).first.get_attribute("class")
