"""The blind comparison in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestBlindComparison(SampledView):
    script = "views/blind_comparison/samples.py"

    def press(self, root: Locator) -> None:
        while (equal := root.get_by_role("button", name="Equally good")).is_visible():
            equal.click()
