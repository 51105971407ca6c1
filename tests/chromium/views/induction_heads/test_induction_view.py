"""The view of induction heads in a page of its own: every control, a phone, themes, Show me."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views
from tests.chromium.views.induction_heads.driver import Side
from tests.chromium.views.induction_heads.samples import LAST, OTHER, SELECTED

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def induction(sample_page):
    """Give the folder of a page with one view of induction heads, and its view."""
    return sample_page("views/induction_heads/samples.py")


@pytest.mark.parametrize("mode", ["http", "file"])
def test_every_control_shows_pythons_numbers(induction, open_page, mode):
    folder, views = induction
    with served(folder, mode) as site:
        drive(open_page(site, "index.html"), views)


@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_nothing_sticks_out_and_it_answers(induction, open_page, width):
    folder, views = induction
    with served(folder, "http") as site:
        page = open_page(site, viewport={"width": width, "height": 844}, has_touch=True)
        (root,) = ready_views(page, views)
        check_phone(page, [root])
        root.locator(".g2h-word").nth(27).tap()
        expect(root).to_have_attribute("data-word", "27")
        root.get_by_label("head 2.1 on", exact=True).tap()
        expect(root).to_have_attribute("data-state", "done")
        check_phone(page, [root])


def test_both_themes_can_be_read(induction, open_page):
    folder, views = induction
    with served(folder, "http") as site:
        page = open_page(site)
        roots = ready_views(page, views)
        check_contrast(page, roots)
        found = Axe().run(page, context=".g2h-view")
        grave = [one for one in found.response["violations"] if one["impact"] != "minor"]
        assert not grave, found.generate_report()


def test_show_me_buttons_begin_with_the_first_model_and_all_heads_on(induction, open_page):
    folder, views = induction
    with served(folder, "http") as site:
        page = open_page(site)
        (root,) = ready_views(page, views)
        view, text = Side(page, root, views[0].traits), SELECTED["text"]
        off = tuple((layer, head) for layer, head in LAST)
        for name, question in (
            ("Layer 2 off", (text, 0, off)),
            ("One layer", (text, 1)),
            ("Another order", (OTHER, 0)),
            ("Layer 2 off", (text, 0, off)),
            ("The second time", (text, 0)),
        ):
            button = view.button(name)
            button.click()
            view.check(*question)
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(root.locator(".g2h-look")).not_to_be_empty()
        expect(root.locator(".g2h-live")).to_contain_text(
            "From the second “castle”, head 2.1 gives 0.40 of its attention to “lemon”, the word "
            "after the earlier “castle”"
        )
