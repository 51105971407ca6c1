"""The map of word vectors in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestEmbeddingMap(SampledView):
    script = "views/embedding_map/samples.py"

    def press(self, root: Locator) -> None:
        root.get_by_role("button", name="boy?").click()
        answered(root)
