"""The gate explorer in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestGateExplorer(SampledView):
    script = "views/gate_explorer/samples.py"
    height = 1150

    def press(self, root: Locator) -> None:
        root.get_by_role("button", name="forget gate: 0").click()
        answered(root)
