"""The tokenizer bench in a page of its own: every control, a phone, both themes."""

import pytest

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def bench(sample_page):
    """Give the folder of a page with one tokenizer bench, and its view."""
    return sample_page("views/tokenizer_bench/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(bench, open_page, mode):
    folder, views = bench
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


def test_on_a_phone_nothing_sticks_out(bench, open_page):
    folder, views = bench
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.get_by_role("textbox").fill("x" * 200 + " 日本語")
        check_phone(page, [root])


def test_both_themes_can_be_read(bench, open_page):
    folder, views = bench
    with served(folder, "http") as site:
        page = open_page(site)
        check_contrast(page, ready_views(page, views))
