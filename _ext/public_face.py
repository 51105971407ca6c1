"""What the web sees of the book: descriptions, titles, addresses, a first page, a page not found.

Each page has one sentence of description, in `descriptions.yml`. If the book has an address of its
own (`html.baseurl` in `_config.yml`), each page names it, there are tags for social networks, a
sitemap for search engines, and a page for addresses that lead nowhere. Without an address there is
none of these.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

WITH_ADDRESS = ("sphinxext.opengraph", "sphinx_sitemap", "notfound.extension")
SITE = re.compile(r"https?://[^\s\"'/?#]+/([^\s\"'?#]+/)?")
PICTURE = "translator-light.png"
NOT_FOUND = """
<h1>Page not found</h1>
<p>There is no page at this address. It may have moved to another chapter.
<a href="{home}">Go to the first page</a>, or use the search.</p>
"""
# Attributes that hold an address relative to the page.
ADDRESSES = ("href", "src", "data-content_root")
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|#|/)", re.I)


def read_descriptions(app: Sphinx, config: Config) -> None:
    """Read what each page is about, and set what depends on the address."""
    text = (Path(__file__).parent / "descriptions.yml").read_text(encoding="utf-8")
    config.page_descriptions = yaml.safe_load(text)
    address = config.html_baseurl
    if not address:
        return
    if not SITE.fullmatch(address):
        raise ExtensionError(
            "html.baseurl must be empty, or an address that begins with https:// and ends with /, "
            f"got {address!r}"
        )
    path = urlsplit(address).path
    config.ogp_site_url = address
    config.ogp_site_name = config.html_title
    config.ogp_image = PICTURE
    config.ogp_image_alt = "A live view of the book, with the reader's own sentence in it"
    config.html_extra_path = [*config.html_extra_path, "docs/images"]
    config.sitemap_url_scheme = "{link}"
    config.sitemap_excludes = ["search.html", "404.html"]
    config.notfound_urls_prefix = path
    config.notfound_context = {
        "title": "Page not found",
        "body": NOT_FOUND.format(home=html.escape(path)),
    }


def describe(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Describe a page, and do not repeat the book's name in the title of the first."""
    if sentence := app.config.page_descriptions.get(pagename):
        tag = f'<meta name="description" content="{html.escape(sentence)}" />\n'
        context["metatags"] = context.get("metatags", "") + tag
        context["meta"] = {**(context.get("meta") or {}), "og:description": sentence}
    if pagename == app.config.root_doc:
        context["docstitle"] = ""
        if app.config.html_baseurl:
            context["pageurl"] = app.config.html_baseurl


def lift(page: str, folder: str) -> str:
    """Move a page out of a folder: every relative address in it gets the folder put before it."""
    soup = BeautifulSoup(page, "html.parser")
    for name in ADDRESSES:
        for tag in soup.find_all(attrs={name: True}):
            if tag[name] and not ELSEWHERE.match(tag[name]):
                tag[name] = _without_detour(f"{folder}/{tag[name]}") or "./"
    return str(soup)


def _without_detour(address: str) -> str:
    parts: list[str] = []
    for part in address.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Put the first page at the book's own address as well."""
    if exception is not None or app.builder.name != "html":
        return
    folder, _, _ = app.config.root_doc.rpartition("/")
    first = (app.outdir / f"{app.config.root_doc}.html").read_text(encoding="utf-8")
    (app.outdir / "index.html").write_text(lift(first, folder), encoding="utf-8")


def list_index(app: Sphinx, exception: Exception | None) -> None:
    """Let the sitemap name the first page by the address that the page itself gives."""
    sitemap = app.outdir / "sitemap.xml"
    if exception is not None or not sitemap.is_file():
        return
    address = app.config.html_baseurl
    first = f"<loc>{address}{app.config.root_doc}.html</loc>"
    text = sitemap.read_text(encoding="utf-8")
    sitemap.write_text(text.replace(first, f"<loc>{address}</loc>"), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_config_value("page_descriptions", {}, "html")
    if app.config.html_baseurl:
        for extension in WITH_ADDRESS:
            app.setup_extension(extension)
    app.connect("config-inited", read_descriptions, priority=400)
    app.connect("html-page-context", describe, priority=400)
    app.connect("build-finished", write_index, priority=400)  # before the check of all pages
    app.connect("build-finished", list_index, priority=900)  # after the sitemap is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
