"""The unroller in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestUnroller(SampledView):
    script = "views/unroller/samples.py"
    height = 1150

    def press(self, root: Locator) -> None:
        root.locator(".g2h-keys [data-token='0']").click()
        answered(root)
