"""The next-token view in a page of its own: every control, a phone, themes."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def ahead(sample_page):
    """Give the folder of a page with one next-token view, and its view."""
    return sample_page("views/next_token/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(ahead, open_page, mode):
    folder, views = ahead
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out_and_it_answers(ahead, open_page):
    folder, views = ahead
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.get_by_role("button", name="Sample one token").click()
        expect(root).to_have_attribute("data-state", "done")
        check_phone(page, [root])


def test_both_themes_can_be_read(ahead, open_page):
    folder, views = ahead
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))


def test_it_is_no_taller_than_a_screen_or_so(ahead, open_page):
    folder, views = ahead
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site, viewport={"width": 920, "height": 900}), views)
        assert root.bounding_box()["height"] < 1150


def test_a_question_typed_while_a_model_writes_wins(ahead, open_page):
    folder, views = ahead
    with served(folder, "http") as site:
        (root,) = ready_views(open_page(site, "index.html"), views)
        root.locator("textarea").fill("Two dogs")
        root.get_by_role("button", name="Sample to the end").click()
        root.locator("textarea").fill("A woman")
        expect(root).to_have_attribute("data-question", '["A woman",1,0,1,false]')
        expect(root).to_have_attribute("data-state", "done")
        assert root.locator("textarea").input_value() == "A woman"
