"""The blind comparison in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.blind_comparison.samples import comparison
from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestBlindComparison(SampledView):
    script = "views/blind_comparison/samples.py"
    themed = 390

    def press(self, root: Locator) -> None:
        for _ in comparison().get_state()["pairs"]:
            root.get_by_role("button", name="Equally good").click()
