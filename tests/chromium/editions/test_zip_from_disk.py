"""The book as one zip file: unpacked anywhere, it opens from disk and its models run."""

import zipfile

import pytest

from tests.chromium.samples.saved_views import notebook_views
from tests.chromium.sites import ROOT
from tests.chromium.views.drivers import drive
from tests.chromium.views.translate.driver import OWN, Translator, asked
from tools.book import pack_book

pytestmark = [pytest.mark.browser, pytest.mark.book]
CHAPTER = ROOT / "chapters" / "01_recurrent_gates.ipynb"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The folder that a reader has after unpacking, in a place with a blank in its name."""
    folder = tmp_path_factory.mktemp("a reader")
    with zipfile.ZipFile(pack_book.pack(to=folder / "book.zip")) as packed:
        packed.extractall(folder)
    return folder / pack_book.FOLDER


def test_its_index_is_the_first_page_and_the_translator_translates(unpacked, open_page):
    page = open_page(unpacked.as_uri() + "/", "index.html")
    view = Translator(page, page.locator(".g2h-translate"), "translator_distilled")
    asked(view, OWN)
    view.check(OWN)


def test_the_views_of_a_chapter_run_from_it(unpacked, open_page):
    page = open_page(unpacked.as_uri() + "/", "chapters/01_recurrent_gates.html")
    drive(page, notebook_views(CHAPTER))
