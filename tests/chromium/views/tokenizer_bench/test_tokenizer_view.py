"""The tokenizer bench in a page of its own."""

import pytest
from playwright.sync_api import Locator

from tests.chromium.views.sampled import SampledView

pytestmark = pytest.mark.browser


class TestTokenizerBench(SampledView):
    script = "views/tokenizer_bench/samples.py"

    def press(self, root: Locator) -> None:
        root.get_by_role("textbox").fill("x" * 200 + " 日本語")
