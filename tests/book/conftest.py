"""The built book, a server for it, and a browser."""

import threading
from pathlib import Path

import pytest

from tools.find_browser import find
from tools.serve import make_server

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


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
    server = make_server(site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


# One module long: two of Playwright's drivers cannot live at the same time.
@pytest.fixture(scope="module")
def chromium():
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    path = find()
    if path is None:
        pytest.fail("no Chromium or Chrome found: run python tools/find_browser.py --install")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
