"""A browser, and pages on which no fault goes unseen."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import hangs
from tests.chromium.live.scripts import AGREES
from tests.chromium.samples.saved_views import SavedView
from tests.chromium.samples.scripts import make
from tests.chromium.sites import STOPPED, show
from tools.book.find_browser import ADVICE, FLAGS, find

expect.set_options(timeout=hangs.PAGE)
OWN_SCHEMES = ("data:", "blob:", "about:")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = find()
    if path is None:
        pytest.fail(ADVICE, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages of a site; console errors, page errors and requests elsewhere fail the test.

    Unless `agrees` is False, whatever a view asks to download is agreed to at once.
    """
    contexts, faults = [], []

    def open_one(site: str, path: str = "", *, agrees: bool = True, **options) -> Page:
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
        context = chromium.new_context(**options)
        contexts.append(context)

        def note_request(request):
            if not request.url.startswith((site, *OWN_SCHEMES)):
                faults.append(f"request to {request.url}")

        context.on("request", note_request)
        context.on("weberror", lambda error: faults.append(f"page error: {error.error}"))
        if agrees:
            context.add_init_script(AGREES)
        page = context.new_page()
        page.set_default_timeout(hangs.PAGE)
        page.on("console", lambda said: _note_error(said, faults))
        page.goto(site + path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


def _note_error(said, faults: list[str]) -> None:
    url = said.location.get("url") or ""
    unanswered = "net::ERR_CONNECTION" in said.text and url.startswith(tuple(STOPPED))
    if said.type == "error" and not unanswered:
        faults.append(f"console error: {said.text} ({url})")


@pytest.fixture(scope="session")
def sample_page(tmp_path_factory) -> Callable[[str], tuple[Path, list[SavedView]]]:
    """Give a function that runs a script and shows the views it made on a page of their own."""

    def page_of(script: str) -> tuple[Path, list[SavedView]]:
        state = tmp_path_factory.mktemp(script.removesuffix(".py").replace("/", "-")) / "state.json"
        make(script, state)
        return show(state)

    return page_of


@pytest.fixture(scope="session")
def live(sample_page) -> tuple[Path, dict]:
    """Give the folder of a page with one Translate view and its model's file, and its traits."""
    folder, (view,) = sample_page("views/translate/samples.py")
    return folder, view.traits
