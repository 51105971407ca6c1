"""The view that finds an answer, in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestFindTheAnswer(SampledView):
    script = "views/find_the_answer/samples.py"

    def press(self, root: Locator) -> None:
        root.locator(".g2h-chip").nth(1).click()
        answered(root)
