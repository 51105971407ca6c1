"""A browser, the sites it may visit, and pages on which no fault goes unseen."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from live_scripts import AGREES  # noqa: E402
from sample_scripts import make  # noqa: E402
from saved_widgets import SavedView, shown_views  # noqa: E402
from widget_page import write_page  # noqa: E402

from tests import hangs  # noqa: E402
from tools import serve  # noqa: E402
from tools.find_browser import ADVICE, FLAGS, find  # noqa: E402

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


@contextmanager
def served(folder: Path, mode: str) -> Iterator[str]:
    """Give the address of a folder, from a local server ("http") or as it lies ("file")."""
    if mode == "file":
        yield folder.resolve().as_uri() + "/"
        return
    with serve.served(folder) as address:
        yield address


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
    if said.type == "error":
        faults.append(f"console error: {said.text} ({said.location.get('url')})")


def show(state: Path, libraries: dict[str, Path] | None = None, *, live: Path | None = None):
    """Write a page with the views of a state, beside it; give its folder, and the views.

    Args:
        state: what a script of views wrote; the models that it wrote lie beside it.
        libraries: folders for requirejs, html-manager and anywidget, if these draw the views.
        live: where the models lie that the script did not write.
    """
    saved = json.loads(state.read_text(encoding="utf-8"))
    own = state.with_name("live")
    site = state.with_name("site")
    write_page(site, saved, libraries, live=own if own.is_dir() else live)
    return site, shown_views(saved["state"], saved["shown"])


@pytest.fixture(scope="session")
def sample_page(tmp_path_factory) -> Callable[[str], tuple[Path, list[SavedView]]]:
    """Give a function that runs a script and shows the views it made on a page of their own."""

    def page_of(script: str) -> tuple[Path, list[SavedView]]:
        state = tmp_path_factory.mktemp(script.removesuffix(".py")) / "state.json"
        make(script, state)
        return show(state)

    return page_of


@pytest.fixture(scope="session")
def live(sample_page) -> tuple[Path, dict]:
    """Give the folder of a page with one Translate view and its model's file, and its traits."""
    folder, (view,) = sample_page("live_samples.py")
    return folder, view.traits
