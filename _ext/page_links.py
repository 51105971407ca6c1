"""Link what a notebook says in plain Markdown: terms to the glossary, "Figure 5.3" to the figure.

A term stands in *italics* where it is defined; its first such place on a page becomes a link to its
line of the glossary. Every mention of a figure's number becomes a link to that figure, on whatever
page it stands.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "chapters/appendix/glossary"
TERM = re.compile(r'<span id="(term-[\w-]+)">\*\*(.+?)\*\*</span>')
MENTION = re.compile(r"\bFigure[ \u00a0](\w+\.\w+)")
FIGURE_MIME = "application/vnd.gates2heads.figure+json"
SHUT = (nodes.literal, nodes.literal_block, nodes.reference, nodes.raw, nodes.title, nodes.math)


def terms(glossary: str) -> dict[str, str]:
    """Read the names of all terms, in small letters, each with its anchor.

    "bag of words, continuous (CBOW)" is found by "continuous bag of words" and by "CBOW" too.
    """
    found = {}
    for anchor, written in TERM.findall(glossary):
        name, _, short = written.partition(" (")
        first, _, rest = name.partition(", ")
        for form in (written, name, first, f"{rest} {first}", *short.rstrip(")").split(", ")):
            if form.strip():
                found.setdefault(form.strip().casefold(), anchor)
    return found


def anchor_of(words: str, known: dict[str, str]) -> str | None:
    """Find the anchor of a term, in the singular or the plural."""
    said = " ".join(words.split()).casefold()
    singulars = (said, said.removesuffix("s"), said.removesuffix("es"))
    singulars += (said.removesuffix("ies") + "y",) if said.endswith("ies") else ()
    return next((known[form] for form in singulars if form in known), None)


def figure_anchor(number: str) -> str:
    """Give the anchor of a figure: 5.3 stands at #figure-5-3."""
    return "figure-" + re.sub(r"\W", "-", number)


def figures_of(notebook: Path) -> list[str]:
    """List the numbers of the figures that a notebook shows."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    shown = (output.get("data", {}).get(FIGURE_MIME, {}) for output in outputs)
    return [figure["number"] for figure in shown if "number" in figure]


def read_book(app: Sphinx, env, names) -> None:
    """Note which terms and figures there are, before any page is read."""
    glossary = Path(env.doc2path(GLOSSARY)) if GLOSSARY in env.found_docs else None
    env.g2h_terms = terms(glossary.read_text(encoding="utf-8")) if glossary else {}
    env.g2h_figures = {}
    for page in sorted(env.found_docs):
        path = Path(env.doc2path(page))
        if path.suffix == ".ipynb":
            env.g2h_figures.update(dict.fromkeys(figures_of(path), page))


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the links into a page."""
    if app.builder.format != "html":
        return
    if page != GLOSSARY:
        _link_terms(app, doctree, page)
    _link_figures(app, doctree, page)


def _link_terms(app: Sphinx, doctree: nodes.document, page: str) -> None:
    seen = set()
    for said in list(doctree.findall(nodes.emphasis)):
        anchor = anchor_of(said.astext(), app.env.g2h_terms)
        if anchor is None or anchor in seen or _inside(said, SHUT):
            continue
        seen.add(anchor)
        address = f"{app.builder.get_relative_uri(page, GLOSSARY)}#{anchor}"
        reference = nodes.reference("", "", internal=True, refuri=address, classes=["g2h-term"])
        said.replace_self(reference)
        reference += said


def _link_figures(app: Sphinx, doctree: nodes.document, page: str) -> None:
    known = app.env.g2h_figures
    for text in list(doctree.findall(nodes.Text)):
        if _inside(text, (*SHUT, nodes.strong)):  # a caption names its figure in bold
            continue
        parts, end = [], 0
        for found in MENTION.finditer(text):
            if found[1] not in known:
                continue
            where = app.builder.get_relative_uri(page, known[found[1]])
            address = f"{where}#{figure_anchor(found[1])}"
            parts += [nodes.Text(text[end : found.start()])]
            parts += [nodes.reference("", found[0], internal=True, refuri=address)]
            end = found.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _inside(node: nodes.Node, kinds: tuple) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("env-before-read-docs", read_book)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
