"""Results of the built book stay folded until the reader answers the question above them."""

import pytest
from playwright.sync_api import expect

from tests.chromium.sites import ROOT, served
from tests.chromium.views.predict.driver import answer_all

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
DECODERS, DECODING = "chapters/12_one_stack.html", "chapters/08_decoding.html"
FOLDS = "details.predict:not(.g2h-twin details)"


@pytest.mark.parametrize("mode", ["http", "file"])
def test_an_answer_opens_the_results_of_its_question_alone(open_page, mode):
    with served(BUILT, mode) as site:
        page = open_page(site, DECODERS)
        folds, tables = page.locator(FOLDS), [page.get_by_text(f"Table 12.{n}.") for n in (2, 3)]
        expect(folds).to_have_count(2)
        for place, table in enumerate(tables):
            expect(table).to_be_hidden()
            question = page.locator(".g2h-predict").nth(place)
            question.scroll_into_view_if_needed()
            expect(folds.nth(place)).not_to_have_attribute("open", "")
            list(answer_all(question))
            expect(folds.nth(place)).to_have_attribute("open", "")
            expect(table).to_be_visible()
        folds.first.locator("summary").click()
        expect(tables[0]).to_be_hidden()


def test_a_question_whose_results_are_not_folded_opens_nothing(open_page):
    with served(BUILT, "http") as site:
        page = open_page(site, DECODING)
        list(answer_all(page.locator(".g2h-predict")))
        expect(page.locator(".g2h-result svg")).to_be_visible()
        expect(page.locator("details.predict[open]")).to_have_count(0)


def test_without_scripts_a_reader_opens_the_results(open_page):
    with served(BUILT, "file") as site:
        page = open_page(site, DECODERS, java_script_enabled=False, agrees=False)
        table = page.get_by_text("Table 12.2.")
        expect(table).to_be_hidden()
        page.locator(FOLDS).first.locator("summary").click()
        expect(table).to_be_visible()
