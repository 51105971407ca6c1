"""Photograph each view of the built book, and store the picture in its notebook, beside the view.

    python tools/notebooks/view_pictures.py [NOTEBOOK …]

JupyterLab shows it in place of a view that nobody has run yet. A picture has the light
theme, the width of the page's text, and few colours. It says that it is one, and shows a view as it
is before its first use.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.book.find_browser import launched  # noqa: E402
from tools.book.view_heights import DRAWN, SETTLED  # noqa: E402
from tools.execute_notebooks import write  # noqa: E402
from tools.notebooks.stored_pictures import shown_views  # noqa: E402
from tools.serve import served  # noqa: E402

SITE = ROOT / "_build" / "html"
WINDOW = {"width": 1280, "height": 2400}  # taller than any view
COLOURS = 64  # with half of them, shades that stand for numbers become one
NOTE = "This is a picture. To use the view, run the notebook in JupyterLab or Colab."
VIEW = ".g2h-reserved .g2h-widget"
# Nobody should click in vain.
NOTED = """(views, note) => views.forEach((view) => {
  const line = document.createElement("p");
  line.style = "margin: 0 0 0.5rem; font: italic 0.9rem sans-serif; color: #57606a";
  line.textContent = note;
  view.prepend(line);
})"""
# Every section of the page is laid out, and nothing lies over a view.
PLAIN = """.bd-article > section > section { content-visibility: visible !important; }
.bd-header, .bd-header-article { display: none !important; }"""


def photographs(browser: Browser, address: str) -> list[bytes]:
    """Photograph the views of a page, in their order.

    Args:
        browser: Chromium, running.
        address: of the page.
    """
    context = browser.new_context(viewport=WINDOW, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.add_style_tag(content=PLAIN)
    page.wait_for_function(DRAWN)
    views = page.locator(VIEW)
    views.evaluate_all(NOTED, NOTE)
    page.evaluate(SETTLED)
    taken = [view.screenshot(animations="disabled") for view in views.all()]
    context.close()
    return taken


def reduced(photograph: bytes) -> bytes:
    """Return a photograph as a PNG with a palette."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(photograph)) as image:
        # This method keeps rare colours, such as that of one marked word.
        method = Image.Quantize.MAXCOVERAGE
        few = image.convert("RGB").quantize(COLOURS, method, dither=Image.Dither.NONE)
        few.save(file, "PNG", optimize=True)
    return file.getvalue()


def store(browser: Browser, site: str, path: Path) -> list[int]:
    """Photograph the views of a notebook and store the pictures; return their sizes in bytes.

    Raises:
        ValueError: the page has other views than the notebook: the book must be built again.
    """
    notebook = nbformat.read(path, as_version=4)
    views = list(shown_views(notebook))
    if not views:
        return []
    taken = photographs(browser, f"{site}chapters/{path.stem}.html")
    if len(taken) != len(views):
        raise ValueError(f"{path.name} has {len(views)} views, and its page {len(taken)}")
    small = [reduced(photograph) for photograph in taken]
    for view, picture in zip(views, small, strict=True):
        view.store(base64.b64encode(picture).decode())
    write(path, notebook)
    return list(map(len, small))


def main(arguments: list[str] | None = None) -> None:
    """Take the pictures of all notebooks, or of those that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    notebooks = parser.parse_args(arguments).notebooks
    sizes = []
    with launched() as browser, served(SITE) as site:
        for path in notebooks or sorted((ROOT / "chapters").glob("*.ipynb")):
            found = store(browser, site, path)
            sizes += found
            print(f"{path.name}: {' '.join(f'{size / 1e3:.0f}' for size in found)} kB", flush=True)
    print(f"{len(sizes)} pictures, {sum(sizes) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
