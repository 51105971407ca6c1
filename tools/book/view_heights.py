"""Measure how high each view of the built book is, and keep it for the next build.

    python tools/book/view_heights.py

Each page is opened in three widths of the window, one for each class in `_static/book.css`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.book.find_browser import launched  # noqa: E402
from tools.book.site_check import pages  # noqa: E402
from tools.serve import served  # noqa: E402

SITE = ROOT / "_build" / "html"
STORED = ROOT / "_ext" / "view_heights.json"
WIDTHS = {"narrow": 390, "middle": 768, "wide": 1280}
DRAWN = """() => [...document.querySelectorAll(".g2h-reserved")]
  .every((box) => box.querySelector(".g2h-widget")?.childElementCount)"""
# The fonts are there, and the page is drawn with them.
SETTLED = """async () => {
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
# What the view has, without the reserved space.
MEASURED = """() => [...document.querySelectorAll(".g2h-reserved")].map((box) => {
  box.style.minHeight = 0;
  return Math.round(box.getBoundingClientRect().height);
})"""


def heights(browser: Browser, address: str, width: int) -> list[int]:
    """Return the heights of a page's views in their order, in pixels.

    Args:
        browser: Chromium, running.
        address: of the page.
        width: of the window, in pixels.
    """
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_function(DRAWN)
    page.evaluate(SETTLED)
    found = page.evaluate(MEASURED)
    context.close()
    return found


def main() -> None:
    """Measure every page that has views, and write the file."""
    measured = {}
    with launched() as browser, served(SITE) as site:
        for path in pages(SITE):
            name = path.relative_to(SITE).with_suffix("")
            has_views = "g2h-reserved" in path.read_text(encoding="utf-8")
            if not has_views or name == Path("index"):  # the first page once more
                continue
            address = f"{site}{name.as_posix()}.html"
            found = {kind: heights(browser, address, width) for kind, width in WIDTHS.items()}
            measured[name.as_posix()] = found
            print(name, found, flush=True)
    STORED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
