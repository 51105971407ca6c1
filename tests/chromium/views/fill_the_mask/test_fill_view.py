"""The view of gaps in a page of its own: every control, a phone, themes."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def gaps(sample_page):
    """Give the folder of a page with one view of gaps, and its view."""
    return sample_page("views/fill_the_mask/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(gaps, open_page, mode):
    folder, views = gaps
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out_and_it_answers(gaps, open_page):
    folder, views = gaps
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.locator(".g2h-word").nth(0).click()
        expect(root).to_have_attribute("data-state", "done")
        check_phone(page, [root])


def test_both_themes_can_be_read(gaps, open_page):
    folder, views = gaps
    with served(folder, "http") as site:
        page = open_page(site)
        roots = ready_views(page, views)
        check_contrast(page, roots)
        roots[0].locator(".g2h-word").nth(0).click()
        expect(roots[0]).to_have_attribute("data-state", "done")
        check_contrast(page, roots)


def test_it_is_no_taller_than_a_screen(gaps, open_page):
    folder, views = gaps
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site, viewport={"width": 920, "height": 900}), views)
        assert root.bounding_box()["height"] < 900
