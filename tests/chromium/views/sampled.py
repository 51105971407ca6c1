"""What holds for every view in a page of its own: its numbers, a phone, both themes, its height."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from tests.chromium.sites import served
from tests.chromium.views.drivers import check_contrast, check_phone, drive, ready_views

DESK = {"width": 920, "height": 900}


class SampledView:
    """The tests of one view; a class of its own for each view names its script."""

    script: str  # makes a page with one view
    height = 900  # pixels that it may take in the column of a desk's screen, with its folds open
    widths = (390,)  # of phones
    themed = 1280  # the width of the page on which the colours are checked

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, sample_page):
        """Give the folder of a page with the view, and its view as a list."""
        return sample_page(cls.script)

    @pytest.fixture
    def view(self, sample, open_page):
        """Give a function that opens the page and gives the view's root."""
        folder, views = sample
        with served(folder, "http") as site:
            yield lambda **options: ready_views(open_page(site, **options), views)[0]

    def press(self, root: Locator) -> None:
        """Do with the view what a reader does first, by mouse or touch, and wait for its answer."""

    @pytest.mark.parametrize("mode", ["http", "file"])
    def test_every_control_shows_pythons_numbers(self, sample, open_page, mode):
        folder, views = sample
        with served(folder, mode) as site:
            drive(open_page(site, "index.html"), views)

    def test_on_a_phone_nothing_sticks_out_and_it_answers(self, view):
        for width in self.widths:
            root = view(viewport={"width": width, "height": 844}, has_touch=True)
            check_phone(root.page, [root])
            self.press(root)
            check_phone(root.page, [root])

    def test_both_themes_can_be_read(self, view):
        size = {"width": self.themed, "height": 900}
        root = view(viewport=size, has_touch=True)
        check_contrast(root.page, [root])
        root = view(viewport=size, has_touch=True)
        self.press(root)
        check_contrast(root.page, [root])
        at_rest(root)
        found = Axe().run(root.page, context=".g2h-view")
        grave = [one for one in found.response["violations"] if one["impact"] != "minor"]
        assert not grave, found.generate_report()

    def test_its_height_has_a_limit(self, view):
        height = view(viewport=DESK).bounding_box()["height"]
        assert height < self.height, f"{height:.0f} pixels"


def at_rest(root: Locator) -> None:
    """Wait for what the sliders asked; until then a view dims its previous answer."""
    expect(root).not_to_have_attribute("data-stale", "")
    expect(root).not_to_have_attribute("data-state", re.compile("^(reading|loading)$"))


def answered(root: Locator) -> None:
    """Wait for the answer of the model in the page."""
    expect(root).to_have_attribute("data-state", "done")
