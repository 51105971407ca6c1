"""Link what a page says in plain Markdown: terms, figures, sections and exercises.

A term is in *italics* where it is defined; the first such term of each kind on a page becomes a
link to its line of the glossary. Every mention of a figure ("Figure 5.3"), a section ("sections 5.3
and 5.4") or an exercise becomes a link to it, on whatever page it is. A link to a whole chapter
whose text is the number of a section ("[section 11.9](11_pretraining.ipynb)") gets the anchor of
that section, so that the source also works where headings have other anchors or none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from stored_tables import places

GLOSSARY = "chapters/appendix/glossary"
SOURCE_MAP = "chapters/appendix/source_map"
COLUMNS = ("where", "taught in")  # of the source map: they list sections of the book
TERM = re.compile(r'<span id="(term-[\w-]+)">\*\*(.+?)\*\*</span>')
MENTION = re.compile(r"\bFigure[ \u00a0](\w+\.\w+)")
NUMBERS = r"\d+\.\d+(?:(?:, and | and | or | to |, |–)\d+\.\d+)*"
PLACE = re.compile(
    rf"\b(?P<kind>section|exercise)s?[ \u00a0\n](?P<numbers>{NUMBERS})(?!\.?\d)(?! of the paper)",
    re.I,
)
NUMBER = re.compile(r"\d+\.\d+")
FURTHER = re.compile(r"\b(\d+F) ([A-Z](?:, [A-Z])*)\b")
LETTER = re.compile(r"\b[A-Z]\b")
AFTER = re.compile(r"[:;] (\d+\.\d+|\d+F [A-Z])(?=$|;)")
# What comes before a section of a paper or of another book: "Luong et al., ", or a link and ", ".
ELSEWHERE = re.compile(r"(?:^|\bet al\.|\b(?:19|20)\d\d), $")
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
    """Return the anchor of a figure: 5.3 is at #figure-5-3."""
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
    if page == SOURCE_MAP:
        for table in doctree.findall(nodes.table):
            _link_columns(app, table, page)
    for text in list(doctree.findall(nodes.Text)):
        if text.parent is None or _is_raw_link(text):  # the bibliography's texts have no parent
            continue
        if not _inside(text, (*SHUT, nodes.strong)):  # a caption names its figure in bold
            _put_links(app, text, page, mentions(text, app.env.g2h_figures))
    for reference in list(doctree.findall(nodes.reference)):
        _link_section(app, reference, page)


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


def mentions(said: str, figures: Mapping[str, str]) -> list[tuple[int, int, str, str]]:
    """Find what a text mentions: where each mention begins and ends, the page and the anchor.

    Args:
        said: the text.
        figures: the page of each figure, by number.
    """
    found = []
    for figure in MENTION.finditer(said):
        if figure[1] in figures:
            found.append((*figure.span(), figures[figure[1]], figure_anchor(figure[1])))
    for place in PLACE.finditer(said):
        if ELSEWHERE.search(said, 0, place.start()):
            continue
        is_exercise = place["kind"].lower() == "exercise"
        start = place.start()  # the first link includes the word, the others are a number alone
        for number in NUMBER.finditer(said, *place.span("numbers")):
            if there := section_of(number[0], is_exercise=is_exercise):
                found.append((min(start, number.start()), number.end(), *there))
            start = len(said)
    return sorted(found)


def listed(said: str) -> list[tuple[int, int, str, str]]:
    """Find the sections that a column of sections names: "1.4; 1F A, B; exercises 1.3, 1.4"."""
    found = mentions(said, {})
    taken = [range(start, end) for start, end, *_ in found]
    for number in NUMBER.finditer(said):
        there = section_of(number[0])
        if there and not any(number.start() in one for one in taken):
            found.append((*number.span(), *there))
    for further in FURTHER.finditer(said):
        for letter in LETTER.finditer(said, further.start(2), further.end()):
            start = further.start() if letter.start() == further.start(2) else letter.start()
            if there := section_of(f"{further[1]} {letter[0]}"):
                found.append((start, letter.end(), *there))
    return sorted(found)


def ending(said: str) -> list[tuple[int, int, str, str]]:
    """Find the sections that close a statement: "…, and they stay coarse: 2.1"."""
    ends = ((one.span(1), section_of(one[1])) for one in AFTER.finditer(said))
    return [(*span, *there) for span, there in ends if there]


def section_of(number: str, *, is_exercise: bool = False) -> tuple[str, str] | None:
    """Return the page and the anchor of a section ("1.4", "1F A") or an exercise, if any."""
    address = places().get(f"exercise {number}" if is_exercise else number)
    if address is None:
        return None
    page, _, anchor = address.partition(".html#")
    return page.replace("../", "chapters/", 1), anchor


def _link_columns(app: Sphinx, table: nodes.table, page: str) -> None:
    heads = [entry.astext() for head in table.findall(nodes.thead) for entry in head[0]]
    for row in (row for body in table.findall(nodes.tbody) for row in body):
        for head, entry in zip(heads, row, strict=True):
            for text in list(entry.findall(nodes.Text)):
                if not _inside(text, SHUT):
                    found = listed(text) if head in COLUMNS else ending(text)
                    _put_links(app, text, page, found)


def _put_links(app: Sphinx, text: nodes.Text, page: str, found: list) -> None:
    parts, end = [], 0
    for start, stop, target, anchor in found:
        address = f"{app.builder.get_relative_uri(page, target)}#{anchor}"
        parts += [nodes.Text(text[end:start])]
        parts += [nodes.reference("", text[start:stop], internal=True, refuri=address)]
        end = stop
    if parts:
        text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _is_raw_link(text: nodes.Text) -> bool:
    """Whether a text is in a link that was written as HTML: behind a raw `<a …>`."""
    place = text.parent.index(text)
    before = text.parent[place - 1] if place else None
    return isinstance(before, nodes.raw) and before.astext().startswith("<a ")


def _link_section(app: Sphinx, reference: nodes.reference, page: str) -> None:
    if not (first := NUMBER.search(said := reference.astext())):
        return
    is_exercise = said[: first.start()].lower().rstrip().endswith("exercise")
    there = section_of(first[0], is_exercise=is_exercise)
    if there and reference.get("refuri") == app.builder.get_relative_uri(page, there[0]):
        reference["refuri"] += f"#{there[1]}"


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
