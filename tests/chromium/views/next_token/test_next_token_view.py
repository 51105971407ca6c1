"""The next-token view in a page of its own."""

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestNextToken(SampledView):
    script = "views/next_token/samples.py"
    height = 1150

    def press(self, root: Locator) -> None:
        root.get_by_role("button", name="Sample one token").click()
        answered(root)

    def test_a_question_typed_while_a_model_writes_wins(self, view):
        root = view()
        root.locator("textarea").fill("Two dogs")
        root.get_by_role("button", name="Sample to the end").click()
        root.locator("textarea").fill("A woman")
        expect(root).to_have_attribute("data-question", '["A woman",1,0,1,false]')
        answered(root)
        assert root.locator("textarea").input_value() == "A woman"
