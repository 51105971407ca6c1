"""The sites that the browser may visit: the built book's folders, and pages of sample views."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chromium.samples.page import write_page
from tests.chromium.samples.saved_views import SavedView, shown_views
from tools import serve

ROOT = Path(__file__).resolve().parents[2]
STOPPED: set[str] = set()  # servers whose test has ended; what a page still loads from them fails


@contextmanager
def served(folder: Path, mode: str) -> Iterator[str]:
    """Give the address of a folder, from a local server ("http") or as it lies ("file")."""
    if mode == "file":
        yield folder.resolve().as_uri() + "/"
        return
    with serve.served(folder) as address:
        STOPPED.discard(address)
        yield address
        STOPPED.add(address)


def show(
    state: Path, libraries: dict[str, Path] | None = None, *, live: Path | None = None
) -> tuple[Path, list[SavedView]]:
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
