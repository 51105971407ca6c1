"""The view of induction heads in a page of its own."""

import pytest
from playwright.sync_api import Locator, expect

from tests.chromium.views.induction_heads.driver import Side
from tests.chromium.views.induction_heads.samples import LAST, OTHER, SELECTED
from tests.chromium.views.sampled import SampledView, answered

pytestmark = pytest.mark.browser


class TestInductionHeads(SampledView):
    script = "views/induction_heads/samples.py"
    height = 1500
    widths = (390, 360)

    def press(self, root: Locator) -> None:
        root.locator(".g2h-word").nth(27).tap()
        expect(root).to_have_attribute("data-word", "27")
        root.get_by_label("head 2.1 on", exact=True).tap()
        answered(root)

    def test_show_me_buttons_begin_with_the_first_model_and_all_heads_on(self, view, sample):
        root = view()
        side, text = Side(root.page, root, sample[1][0].traits), SELECTED["text"]
        off = tuple((layer, head) for layer, head in LAST)
        for name, question in (
            ("Layer 2 off", (text, 0, off)),
            ("One layer", (text, 1)),
            ("Another order", (OTHER, 0)),
            ("Layer 2 off", (text, 0, off)),
            ("The second time", (text, 0)),
        ):
            button = side.button(name)
            button.click()
            side.check(*question)
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(root.locator(".g2h-look")).not_to_be_empty()
        expect(root.locator(".g2h-live")).to_contain_text(
            "From the second “castle”, head 2.1 gives 0.40 of its attention to “lemon”, the word "
            "after the earlier “castle”"
        )
