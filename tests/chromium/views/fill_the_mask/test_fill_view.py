"""The view that fills a mask, in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestFillTheMask(SampledView):
    script = "views/fill_the_mask/samples.py"

    def press(self, root: Locator) -> None:
        root.locator(".g2h-word").nth(0).click()
        answered(root)
