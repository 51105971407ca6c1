"""Take the pictures of live views that the README and the first page show, light and dark.

    python tools/book/picture.py

The built book is served and opened in Chromium. The translator of the first page is asked for a
sentence, as a reader would ask it, and one word of its answer is pointed at. Of four chapters, a
part of the opening view is photographed as a thumbnail.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.book.find_browser import launched  # noqa: E402
from tools.serve import served  # noqa: E402

BOOK = ROOT / "_build" / "html"
PICTURES = ROOT / "docs" / "images"
PAGE, VIEW = "chapters/intro.html", ".g2h-translate"
SCHEMES = ("light", "dark")
SENTENCE = "Im Park liest eine Frau auf einer Bank ein Buch."
POINTED = "park"  # a word of the answer; the links lead to where the model attended
LAST, MARGIN = ".g2h-english", 8  # what the picture ends below, and by how many pixels
SCALE = 1.5  # device pixels for each pixel of the page
THUMBNAILS = ROOT / "_static" / "thumbnails"
SIZE = (480, 320)  # pixels of a thumbnail
COLOURS = 256  # of the palette; in all its colours, a picture is three times as large
PATIENCE = 120_000  # milliseconds, for the model to load and to answer


class Thumbnail(NamedTuple):
    """A part of the opening view of a chapter."""

    name: str
    page: str
    view: str
    part: str  # the element whose upper left corner is photographed
    width: int  # of the photograph, in pixels of the page
    off: str = ""  # the attention head that is switched off before


PARTS = (
    Thumbnail("gates", "chapters/01_recurrent_gates.html", ".g2h-gate-explorer", ".g2h-tape", 400),
    Thumbnail(
        *("heads", "chapters/06_self_attention.html", ".g2h-head-explorer", ".g2h-heads", 345),
        off="head 2",
    ),
    Thumbnail("beam", "chapters/08_decoding.html", ".g2h-beam", ".g2h-tree", 450),
    Thumbnail("code", "chapters/12_one_stack.html", ".g2h-code-model", ".g2h-code", 420),
)


def thumbnail_of(name: str, scheme: str) -> Path:
    """Return the path of a thumbnail in a colour scheme."""
    return THUMBNAILS / f"{name}-{scheme}.png"


def picture_of(scheme: str) -> Path:
    """Return the path of the picture of a colour scheme."""
    return PICTURES / f"translator-{scheme}.png"


def opened(browser: Browser, address: str, view: str, scheme: str) -> tuple[Page, Locator]:
    """Open a page of the book, and find the first view of a kind in it.

    Args:
        browser: Chromium, running.
        address: of the page.
        view: the selector of the view.
        scheme: the colour scheme that the reader's system prefers.
    """
    page = browser.new_page(
        viewport={"width": 1280, "height": 1600},
        device_scale_factor=SCALE,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    return page, page.locator(view).first


def take(browser: Browser, site: str, scheme: str) -> bytes:
    """Ask the translator of the first page and photograph it once the answer is there."""
    page, view = opened(browser, site + PAGE, VIEW, scheme)
    view.locator("textarea").fill(SENTENCE)
    view.get_by_role("button", name="Load the model").click()
    page.locator(f"{VIEW}[data-state=done][data-shown='{SENTENCE}']").wait_for()
    page.evaluate("document.activeElement.blur()")  # no outline of the keyboard in the picture
    # A photograph scrolls to the view, and then the pointer would be over another word.
    view.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    words = view.locator("[data-side=target] .g2h-word")
    words.filter(has_text=POINTED).first.hover()
    box, last = view.bounding_box(), view.locator(LAST).bounding_box()
    height = last["y"] + last["height"] + MARGIN - box["y"]
    taken = page.screenshot(clip=box | {"height": height})
    page.close()
    return taken


def take_part(browser: Browser, site: str, one: Thumbnail, scheme: str) -> bytes:
    """Photograph the part of a chapter's opening view that a thumbnail shows."""
    page, view = opened(browser, site + one.page, one.view, scheme)
    part = view.locator(one.part).first
    if one.off:
        view.get_by_role("checkbox", name=one.off, exact=True).uncheck()
        view.get_by_role("button", name="Load the model").click()
        page.locator(one.view + "[data-state=done]").first.wait_for()
        page.mouse.move(0, 0)
        view.evaluate("() => document.activeElement.blur()")
    part.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    box = part.bounding_box()
    width, height = SIZE
    clip = {"x": box["x"], "y": box["y"], "width": one.width, "height": one.width * height / width}
    taken = page.screenshot(clip=clip)
    page.close()
    return taken


def store(taken: bytes, path: Path, size: tuple[int, int] | None = None) -> None:
    """Write a photograph as a PNG with a palette, scaled to a size if one is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(io.BytesIO(taken)) as image:
        scaled = image.resize(size, Image.Resampling.LANCZOS) if size else image
        # This method keeps rare colours, such as the frame of the word that is pointed at.
        method = Image.Quantize.MAXCOVERAGE
        reduced = scaled.convert("RGB").quantize(COLOURS, method, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)


def main() -> None:
    """Write the pictures and print their sizes."""
    chromium = launched()
    try:
        with served(BOOK) as site, chromium as browser:
            for scheme in SCHEMES:
                store(take(browser, site, scheme), picture_of(scheme))
                for one in PARTS:
                    taken = take_part(browser, site, one, scheme)
                    store(taken, thumbnail_of(one.name, scheme), SIZE)
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
    for path in [*PICTURES.glob("translator-*.png"), *THUMBNAILS.glob("*.png")]:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
