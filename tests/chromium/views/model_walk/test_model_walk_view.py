"""The model walk in a page of its own: Python's numbers, a phone, themes, a missing model."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.chromium.live.scripts import LOADED
from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone
from tests.chromium.views.model_walk.driver import OWN, Walker, drive_walk, python_walks

pytestmark = pytest.mark.browser
HIGHEST = 1500  # pixels at a page's width: the view is seen as a whole


@pytest.fixture(scope="module")
def site(sample_page) -> tuple[Path, dict]:
    """The folder of a page with one model walk and its model's file, and the view's traits."""
    folder, (view,) = sample_page("views/model_walk/samples.py")
    return folder, view.traits


def opened(open_page, address: str, traits: dict, **options) -> Walker:
    page = open_page(address, "index.html", **options)
    root = page.locator(".g2h-model-walk")
    expect(root).to_be_visible()
    return Walker(page, root, traits["text"])


@pytest.mark.parametrize("mode", ["http", "file"])
def test_all_that_it_shows_is_pythons(site, open_page, mode):
    folder, traits = site
    with served(folder, mode) as address:
        view = opened(open_page, address, traits)
        drive_walk(view.page, view.root, traits)


def test_it_sleeps_until_it_is_used_and_its_recorded_example_can_be_walked(site, open_page):
    folder, traits = site
    with served(folder, "http") as address:
        view = opened(open_page, address, traits)
        view.page.wait_for_timeout(300)
        assert view.page.evaluate(LOADED) == 0
        view.boxes.nth(3).click()
        view.page.mouse.move(0, 0)  # the question moves the page: the mouse may rest on a cell
        view.check(python_walks(traits["text"]))
        expect(view.state).to_contain_text("Ready. Edit the text to see a new result.")
        assert view.page.evaluate(LOADED) == 1


def test_a_phone_by_touch(site, open_page):
    folder, traits = site
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with served(folder, "http") as address:
        view = opened(open_page, address, traits, **phone)
        check_phone(view.page, [view.root])
        view.boxes.nth(5).tap()
        view.root.locator(".g2h-side.g2h-written .g2h-token").nth(1).tap()
        view.check(python_walks(traits["text"]))
        view.cells.nth(1).tap()
        expect(view.root.locator(".g2h-named p")).to_contain_text("Step 2, after the embedding")
        view.check(view.type(OWN))
        check_phone(view.page, [view.root])


def test_both_themes_can_be_read_and_it_is_no_higher_than_it_should_be(site, open_page):
    folder, traits = site
    with served(folder, "http") as address:
        view = opened(open_page, address, traits)
        for place in (0, 2, 4, 6):
            view.boxes.nth(place).click()
            check_contrast(view.page, [view.root])
            assert view.root.bounding_box()["height"] <= HIGHEST


def test_without_its_model_the_recorded_example_stays(site, open_page, tmp_path):
    folder, traits = site
    with served(folder, "http") as address:
        page = open_page(address)
        page.route("**/live/translator-*.js", lambda route: route.fulfill(body="// nothing"))
        view = Walker(page, page.locator(".g2h-model-walk"), traits["text"])
        view.field.fill(OWN)
        expect(view.root).to_have_attribute("data-state", "fault")
        expect(view.state).to_contain_text("The view still shows the stored result.")
        assert view.field.input_value() == OWN
        expect(view.slider).to_have_value("3")  # the step of the stored result stays
        expect(view.root.locator("div.g2h-dim")).to_have_css("opacity", "0.45")
        view.check(python_walks(traits["text"]))
