"""Keep of the icon fonts only the icons that some page or script of the book names.

The theme brings two thousand icons as scripts and fonts; the book shows a dozen. The script goes
(the fonts draw the same icons), and the fonts are cut down, some 150 kB less on a first visit.
"""

from __future__ import annotations

import re
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx

SCRIPT = re.compile(
    r"\s*(?:<!--[^>]*custom icons[^>]*-->\s*)?<script[^>]*fontawesome[^>]*></script>"
)
# Preloads of the full font or its script would fetch what nothing uses.
PRELOAD = re.compile(r"\s*<link[^>]*rel=\"preload\"[^>]*fontawesome[^>]*>")
NAME = re.compile(r"\bfa-([a-z0-9-]+)")
RULE = re.compile(r"([^{}]*)\{[^{}]*content:\s*\"\\([0-9a-f]{1,5})\"[^{}]*\}")
FACE = re.compile(r"@font-face\{[^}]*url\(([^)]*/fa-([a-z]+-\d+)\.woff2)\)[^}]*\}")
SOURCE = re.compile(r"src:url\([^}]*?(?=[;}])")


def drop_script(site: Path) -> None:
    """Take the icon script out of the pages, and out of the site what no page asks for."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        slim = PRELOAD.sub("", SCRIPT.sub("", text))
        if slim != text:
            page.write_text(slim, encoding="utf-8")
    for pattern in ("scripts/fontawesome.js*", "**/*.map", "*webpack-macros.html"):
        for unused in (site / "_static").glob(pattern):
            unused.unlink()


def named_icons(site: Path) -> set[str]:
    """List the icons that pages, scripts and the smaller stylesheets name."""
    files = [*site.rglob("*.html"), *(site / "_static").rglob("*.js")]
    texts = (path.read_text(encoding="utf-8") for path in files)
    return {name for text in texts for name in NAME.findall(text)}


def characters(css: str, icons: set[str]) -> set[int]:
    """Find the characters of the icons, and of all rules that are no icon's own."""
    found = set()
    for selectors, code in RULE.findall(css):
        names = set(NAME.findall(selectors))
        if not names or names & icons:
            found.add(int(code, 16))
    return found


def cut_font(full: Path, wanted: set[int]) -> None:
    """Write the wanted characters of a .ttf beside it as .woff."""
    options = subset.Options(flavor="woff", layout_features=[], notdef_outline=True)
    font = subset.load_font(str(full), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    subset.save_font(font, str(full.with_suffix(".woff")), options)


def shrink(sheet: Path, icons: set[str]) -> None:
    """Replace each icon font of a stylesheet by one with the named icons alone."""
    css = sheet.read_text(encoding="utf-8")
    wanted, done = characters(css, icons), set()
    for face in list(FACE.finditer(css)):
        full = (sheet.parent / face[1]).with_suffix(".ttf")
        if not full.is_file():
            continue
        if full not in done:
            cut_font(full, wanted)
            done.add(full)
        address = face[1].removesuffix("2")
        css = css.replace(face[0], SOURCE.sub(f'src:url({address}) format("woff")', face[0]))
    for full in done:
        full.unlink()
        full.with_suffix(".woff2").unlink()
    sheet.write_text(css, encoding="utf-8")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Slim the finished site."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    drop_script(site)
    icons = named_icons(site)
    for sheet in (site / "_static").rglob("*.css"):
        if FACE.search(sheet.read_text(encoding="utf-8")):
            shrink(sheet, icons)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
