"""The built book, a server for it, and a browser."""

from pathlib import Path

import pytest

from tools.book.find_browser import ADVICE, FLAGS, find
from tools.serve import served

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site():
    """The folder of the built pages."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").is_file():
        pytest.fail("there is no built book: run make book first")
    return folder


@pytest.fixture(scope="session")
def address(site):
    """The book's address over http; the server counts on nothing but this machine."""
    with served(site) as address:
        yield address


# One module long: two of Playwright's drivers cannot live at the same time.
@pytest.fixture(scope="module")
def chromium():
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    path = find()
    if path is None:
        pytest.fail(ADVICE, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
