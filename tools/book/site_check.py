"""Read the built pages and list every address in them that leads nowhere, or out of the book.

python tools/book/site_check.py [FOLDER]
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
WEB = ("http", "https", "mailto")
INLINE = ("data", "blob", "javascript")
# Elements whose address the browser follows by itself.
LOADED = {
    "script": ("src",),
    "img": ("src",),
    "source": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "input": ("src",),
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}
CSS_ADDRESS = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")


def pages(site: Path) -> list[Path]:
    """List the site's own pages; vendor/ holds other people's libraries.

    404.html is left out: a server shows it at any address, so its own begin at the server's root.
    """
    found = (path for path in site.rglob("*.html") if "vendor" not in path.parts)
    return sorted(path for path in found if path != site / "404.html")


@cache
def _soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def _anchors(page: Path) -> frozenset[str]:
    tags = _soup(page).find_all(True)
    return frozenset(tag[key] for tag in tags for key in ("id", "name") if tag.get(key))


def _loaded(soup: BeautifulSoup) -> list[str]:
    found = [
        tag[key]
        for name, keys in LOADED.items()
        for tag in soup.find_all(name)
        for key in keys
        if tag.get(key)
    ]
    for tag in soup.find_all("link", href=True):
        if LOADED_LINKS & set(tag.get("rel", [])):
            found.append(tag["href"])
    for tag in soup.find_all(["img", "source"], srcset=True):
        found += [part.split()[0] for part in tag["srcset"].split(",")]
    styles = [tag.get_text() for tag in soup.find_all("style")]
    styles += [tag["style"] for tag in soup.find_all(True, style=True)]
    for style in styles:
        found += _css_addresses(style)
    return found


def _css_addresses(text: str) -> list[str]:
    return [one or other for one, other in CSS_ADDRESS.findall(text)]


def _problem(address: str, page: Path, site: Path, *, loaded: bool) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        allowed = parts.scheme in INLINE or (parts.scheme in WEB and not loaded)
        return None if allowed else "leaves the book"
    if parts.path.startswith("/"):
        return "starts at the server's root"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_relative_to(site):
        return "leaves the book"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "leads nowhere"
    anchored = parts.fragment and target.suffix == ".html" and not loaded
    if anchored and unquote(parts.fragment) not in _anchors(target):
        return "has no such anchor"
    return None


def check(site: Path) -> list[str]:
    """List the problems of a built site, one sentence each; an empty list is a sound site.

    Args:
        site: the folder of index.html.
    """
    site = site.resolve()
    faults = []
    for page in pages(site):
        soup = _soup(page)
        addresses = [(tag["href"], False) for tag in soup.find_all("a", href=True)]
        addresses += [(tag["href"], False) for tag in soup.find_all("link", href=True)]
        addresses += [(address, True) for address in _loaded(soup)]
        faults += _faults(dict.fromkeys(addresses), page, site)
    for sheet in sorted(site.rglob("*.css")):
        found = _css_addresses(sheet.read_text(encoding="utf-8"))
        faults += _faults([(address, True) for address in found], sheet, site)
    return faults


def _faults(addresses, page: Path, site: Path) -> list[str]:
    problems = ((a, _problem(a, page, site, loaded=loaded)) for a, loaded in addresses)
    name = page.relative_to(site)
    return [f"{name}: {address} {problem}" for address, problem in problems if problem]


def main() -> None:
    """Print the problems; fail if there are any."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "_build" / "html"
    faults = check(site)
    print("\n".join(faults) or f"{len(pages(site.resolve()))} pages, no problem")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
