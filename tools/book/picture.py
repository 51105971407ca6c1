"""Take the pictures of a live view that the README shows, one light and one dark.

    python tools/book/picture.py

The built book is served and its first page opened in Chromium. The translator there is asked for a
sentence and a beam width, as a reader would ask it, and one word of its answer is pointed at.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.book.find_browser import launched  # noqa: E402
from tools.serve import served  # noqa: E402

BOOK = ROOT / "_build" / "html"
PICTURES = ROOT / "docs" / "images"
PAGE, VIEW = "chapters/intro.html", ".g2h-translate"
SCHEMES = ("light", "dark")
SENTENCE, WIDTH = "Im Park liest eine Frau auf einer Bank ein Buch.", 5
POINTED = "park"  # a word of the answer; the links lead to where the model attended
LAST, MARGIN = ".g2h-english", 8  # what the picture ends below, and by how many pixels
SCALE = 1.5  # device pixels for each pixel of the page
COLOURS = 256  # of the palette; in all its colours, a picture is three times as large
PATIENCE = 120_000  # milliseconds, for the model to load and to answer


def picture_of(scheme: str) -> Path:
    """Return the path of the picture of a colour scheme."""
    return PICTURES / f"translator-{scheme}.png"


def take(browser: Browser, site: str, scheme: str) -> bytes:
    """Ask the view and photograph it once the answer is there.

    Args:
        browser: Chromium, running.
        site: the address of the built book.
        scheme: the colour scheme that the reader's system prefers.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 1600},
        device_scale_factor=SCALE,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(site + PAGE)
    view = page.locator(VIEW)
    view.locator("textarea").fill(SENTENCE)
    view.get_by_role("button", name="Load the model").click()
    search = view.locator("input[type=range]")
    search.fill(str(WIDTH))
    search.blur()  # no outline of the keyboard in the picture
    asked = f"[data-state=done][data-shown='{SENTENCE}'][data-width='{WIDTH}']"
    page.locator(VIEW + asked).wait_for()
    # A photograph scrolls to the view, and then the pointer would be over another word.
    view.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    words = view.locator("[data-side=target] .g2h-word")
    words.filter(has_text=POINTED).first.hover()
    box, last = view.bounding_box(), view.locator(LAST).bounding_box()
    height = last["y"] + last["height"] + MARGIN - box["y"]
    taken = page.screenshot(clip=box | {"height": height})
    context.close()
    return taken


def store(taken: bytes, path: Path) -> None:
    """Write a photograph as a PNG with a palette."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(io.BytesIO(taken)) as image:
        # This method keeps rare colours, such as the frame of the word that is pointed at.
        method = Image.Quantize.MAXCOVERAGE
        reduced = image.convert("RGB").quantize(COLOURS, method, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)


def main() -> None:
    """Write both pictures and print their sizes."""
    chromium = launched()
    try:
        with served(BOOK) as site, chromium as browser:
            for scheme in SCHEMES:
                path = picture_of(scheme)
                store(take(browser, site, scheme), path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
