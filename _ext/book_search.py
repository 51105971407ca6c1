"""The book's search: an index of sections, and a page that ranks them.

The index has one record for each section of each page, with its text, and one for each row of the
glossary. `search/ranking.js` ranks the records with MiniSearch, and `search/page.js` shows them on
`search.html`. All three come by script tags, so the search also works from file://, where a browser
fetches nothing.

Code, formulas on lines of their own and solutions are not searched: a search must not give away an
answer. Sphinx's own index stays beside the pages, since an incremental build reads it; no page
loads it. docs/authors.md says, under "The search", why neither that index nor Pagefind serves.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from glossary_entries import searched
from page_links import GLOSSARY
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HERE = Path(__file__).parent / "search"
SCRIPTS = ("ranking.js", "page.js")
INDEX = "_static/search/index.js"
LIBRARY = "vendor/minisearch/minisearch.js"
OPENING = "globalThis.bookIndex = "
# Sphinx's tools for its search, which the page no longer needs; its stemmer it does.
TOOLS = re.compile(r'\s*<script src="[^"]*(?:searchtools|searchindex)\.js[^"]*"[^>]*></script>')
LANGUAGE = re.compile(r'\s*<script src="[^"]*language_data\.js[^"]*"[^>]*></script>')
# How much a page counts: what teaches comes before what goes on, looks up or lists.
WEIGHTS = (
    (re.compile(r"chapters/\d\d_\w+_further"), 0.7),
    (re.compile(r"chapters/\d\d_\w+"), 1.0),
    (re.compile(r"chapters/intro"), 0.5),
    (re.compile(r"chapters/appendix/(glossary|notation|data)"), 0.5),
    (re.compile(r""), 0.3),
)
# Parts that a reader does not look for, or is to find alone.
SKIPPED = (
    nodes.comment,
    nodes.literal_block,
    nodes.raw,
    nodes.section,
    nodes.substitution_definition,
    nodes.title,
)
UNSAID = {"tag_solution", "g2h-claims"}  # classes
TAG = re.compile(r"</?(?:details|div|small)\b[^>]*>")
# Where a number comes from; answers to exercises; answers to predictions
UNREAD = re.compile(r"<small|solution|predict|g2h-twin")
WORD = re.compile(r"[^\W\d_]{3}")
ENDS = (nodes.paragraph, nodes.entry, nodes.list_item, nodes.term)
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "tau": "τ", "sigma": "σ"}
NAMED = re.compile(r"\\(?:text|math\w+|operatorname\*?|hat|tilde|bar)\s*\{([^{}]*)\}")
COMMAND = re.compile(r"\\([a-zA-Z]+)")


def shown(tex: str) -> str:
    r"""Write a formula in a line as plain text, or … where that cannot be read.

    Returns:
        such as `k` for `k`, `α = 0.6` for `\alpha = 0.6`.
    """
    text = COMMAND.sub(lambda one: GREEK.get(one[1], one[0]), NAMED.sub(r"\1", tex))
    return "…" if re.search(r"[\\{}^_]", text) else text


class Reader:
    """Reads what one section says, without its subsections and without solutions."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._shut: list[bool] = []  # one for each open tag: whether it is not searched

    def read(self, section: nodes.Node) -> str:
        """Return the text, in one line."""
        for child in section.children:
            self._visit(child)
        return " ".join("".join(self._parts).split())

    def _visit(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.raw):
            self._open_or_close(node.astext())
        elif isinstance(node, SKIPPED) or UNSAID & {*_classes(node)}:
            return
        elif isinstance(node, nodes.entry) and not WORD.search(node.astext()):
            return  # a number of a table
        elif isinstance(node, nodes.math_block):
            self._say(" … ")
        elif isinstance(node, nodes.Text):
            self._say(node.astext())
        elif isinstance(node, nodes.math):
            self._say(shown(node.astext()))
        else:
            for child in node.children:
                self._visit(child)
            if isinstance(node, ENDS):
                self._say(" · " if isinstance(node, nodes.entry) else " ")

    def _open_or_close(self, html: str) -> None:
        for tag in TAG.findall(html):
            if not tag.startswith("</"):
                self._shut.append(bool(UNREAD.search(tag)))
            elif self._shut:
                self._shut.pop()

    def _say(self, text: str) -> None:
        if not any(self._shut):
            self._parts.append(text)


def _classes(node: nodes.Node) -> list[str]:
    return node.get("classes", []) if isinstance(node, nodes.Element) else []


def records(doctree: nodes.document) -> list[list[str]]:
    """List the sections of a page: anchor, heading and text; the page's own has no anchor."""
    found = []
    for section in doctree.findall(nodes.section):
        heading = section.next_node(nodes.title)
        is_page = not isinstance(section.parent, nodes.section)
        anchor = "" if is_page or not section["ids"] else section["ids"][0]
        found.append([anchor, heading.astext() if heading else "", Reader().read(section)])
    return found


def rows(doctree: nodes.document, names: dict[str, list[str]]) -> list[list[str]]:
    """List the rows of the glossary: anchor, term, meaning, and all names that find the row."""
    found = []
    for row in doctree.findall(nodes.row):
        anchor = next((one for one in row["ids"] if one in names), None)
        if anchor:
            term, _, meaning = (Reader().read(entry) for entry in row.children)
            others = " / ".join(dict.fromkeys(names[anchor]))
            found.append([anchor, term, meaning, others])
    return found


def weight(page: str) -> float:
    """Return how much a page counts among equals."""
    return next(share for pattern, share in WEIGHTS if pattern.match(page))


def collect(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Note what a page says."""
    if app.builder.name != "html" or doctree is None or pagename not in app.env.titles:
        return
    page = {"title": app.env.titles[pagename].astext(), "weight": weight(pagename)}
    page["sections"] = records(doctree)
    if pagename == GLOSSARY:
        text = Path(app.env.doc2path(GLOSSARY)).read_text(encoding="utf-8")
        page["rows"] = rows(doctree, searched(text))
        page["sections"] = [[anchor, title, ""] for anchor, title, _ in page["sections"]]
    app.env.g2h_searched = {**getattr(app.env, "g2h_searched", {}), pagename: page}


def written(index: Path) -> dict[str, dict]:
    """Read the index of an earlier build, from which an incremental one takes unchanged pages."""
    try:
        return json.loads(index.read_text(encoding="utf-8").removeprefix(OPENING).rstrip(";\n"))
    except (OSError, ValueError):
        return {}


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index and the scripts, and let the search page load them.

    Raises:
        ExtensionError: MiniSearch is not among the assets, or the page has changed.
    """
    if exception is not None or app.builder.name != "html":
        return
    if not Path(app.outdir, LIBRARY).is_file():
        raise ExtensionError(f"{LIBRARY} is missing: run python tools/fetch_assets.py.")
    place = Path(app.outdir, INDEX)
    place.parent.mkdir(parents=True, exist_ok=True)
    pages = written(place) | getattr(app.env, "g2h_searched", {})
    pages = {page: pages[page] for page in sorted(pages) if page in app.env.found_docs}
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    place.write_text(f"{OPENING}{text};\n", encoding="utf-8")
    for script in SCRIPTS:
        place.with_name(script).write_text((HERE / script).read_text("utf-8"), "utf-8")
    page = Path(app.outdir, "search.html")
    page.write_text(settled(page.read_text(encoding="utf-8")), encoding="utf-8")


def settled(page: str) -> str:
    """Take Sphinx's search out of its page and put the book's in.

    Raises:
        ExtensionError: the page has no script of Sphinx's search.
    """
    slim, found = TOOLS.subn("", page)
    stemmer = LANGUAGE.search(slim)
    if not found or not stemmer:
        raise ExtensionError("search.html loads Sphinx's search as _ext/book_search.py cannot see.")
    ours = (LIBRARY, INDEX, *(f"_static/search/{script}" for script in SCRIPTS))
    tags = "".join(f'\n  <script defer src="{one}"></script>' for one in ours)
    return slim.replace(stemmer[0], stemmer[0] + tags, 1)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("html-page-context", collect, priority=300)  # before equations are typeset
    app.connect("build-finished", write, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
