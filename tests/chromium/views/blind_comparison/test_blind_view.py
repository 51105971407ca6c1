"""The blind comparison in a page of its own: judged to the end, on a phone, in both themes."""

import pytest

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def comparison(sample_page):
    """Give the folder of a page with one blind comparison, and its view."""
    return sample_page("views/blind_comparison/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_the_result_is_pythons(comparison, open_page, mode):
    folder, views = comparison
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


@pytest.mark.parametrize("is_judged", [False, True])
def test_on_a_phone_and_in_both_themes_it_can_be_read(comparison, open_page, is_judged):
    folder, views = comparison
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": 390, "height": 844})
        (root,) = ready_views(page, views)
        if is_judged:
            for _ in views[0].traits["pairs"]:
                root.get_by_role("button", name="Equally good").click()
        check_phone(page, [root])
        check_contrast(page, [root])
