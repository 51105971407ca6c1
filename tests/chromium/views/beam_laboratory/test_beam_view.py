"""The beam laboratory in a page of its own: every control, on a desktop and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def laboratory(sample_page):
    return sample_page("views/beam_laboratory/samples.py")


def test_every_control_shows_pythons_numbers(laboratory, open_page):
    folder, views = laboratory
    with served(folder, "http") as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out_and_hidden_steps_are_announced(laboratory, open_page):
    folder, views = laboratory
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        hidden = root.locator(".g2h-hidden-steps")
        expect(hidden).to_contain_text("Scroll to the right to see steps")
        root.locator(".g2h-tree .g2h-scroll").evaluate("node => (node.scrollLeft = 9999)")
        expect(hidden).to_have_text("")


def test_empty_input_says_that_the_result_is_the_previous_one(laboratory, open_page):
    folder, views = laboratory
    with served(folder, "http") as site:
        page = open_page(site)
        (root,) = ready_views(page, views)
        root.locator("input[type=text]").fill("")
        expect(root.locator(".g2h-refusal:not(.g2h-english *)").first).to_contain_text(
            "belongs to the previous input"
        )
        page.close()  # it is loading its model, and the server would hang up on it
