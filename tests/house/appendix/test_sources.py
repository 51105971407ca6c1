"""Every paper that a docstring of the library cites is in references.bib, and none else is."""

import ast
import json
import re
from pathlib import Path

from pybtex.database import parse_string
from pybtex.style.labels.alpha import LabelStyle

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "src").rglob("*.py"))
# Cho et al. 2014 | Press and Wolf 2017 | Elman 1990, but not 9 March 2021: first author and year
CITED = re.compile(r"(?<!\d )\b([A-Z][\w’'-]+)(?: et al\.| and [A-Z][\w-]+)?,? ((?:19|20)\d\d)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def entries(text):
    """The authors and the year of each entry of a .bib file."""
    found = []
    for entry in text.split("\n@")[1:]:
        fields = dict(re.findall(r"^\s*(author|year)\s*=\s*\{(.*)\},?$", entry, re.M))
        if len(fields) == 2:
            found.append((fields["author"], fields["year"]))
    return found


def cited(source):
    """(author, year) of each citation in the docstrings of a Python text."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    told = " ".join(" ".join((ast.get_docstring(node) or "").split()) for node in nodes)
    return set(CITED.findall(told))


def missing(citations, known):
    """The citations that have no entry with this year and this among its authors."""
    return sorted(
        (author, year)
        for author, year in citations
        if not any(re.search(rf"\b{author}\b", names) and year == when for names, when in known)
    )


KNOWN = entries((ROOT / "references.bib").read_text(encoding="utf-8"))


def test_the_walk_finds_citations():
    assert len(KNOWN) > 90
    assert len(set().union(*(cited(path.read_text(encoding="utf-8")) for path in FILES))) > 50


def test_every_source_has_an_entry():
    lacking = {path: missing(cited(path.read_text(encoding="utf-8")), KNOWN) for path in FILES}
    assert {str(path.relative_to(ROOT)): names for path, names in lacking.items() if names} == {}


def test_a_planted_citation_is_found():
    text = """def f():\n    '''Do.\n\n    Source: Nobody et al. 1999; Cho et al. 2014; Press and
    Wolf 2017, section 2; Gehring et al. 2016.\n    '''"""
    found = cited(text)
    assert found == {
        ("Nobody", "1999"), ("Cho", "2014"), ("Press", "2017"), ("Gehring", "2016")
    }  # fmt: skip
    assert missing(found, KNOWN) == [("Gehring", "2016"), ("Nobody", "1999")]


def test_the_bibliography_is_whole():
    """Every entry closes before the next begins, and has a name of its own."""
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    parsed = parse_string(text, "bibtex")  # raises on a missing brace and on a name given twice
    assert len(parsed.entries) == len(re.findall(r"^@", text, re.M)) > 200


BIBLIOGRAPHY = parse_string((ROOT / "references.bib").read_text("utf-8"), "bibtex").entries
PAGES = [
    *sorted((ROOT / "chapters").rglob("*.ipynb")),
    *sorted((ROOT / "chapters" / "appendix").glob("*")),
    *(ROOT / name for name in ("README.md", "DATA.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


def said_by(page):
    """What a page says: its text, the text that its cells display, and its code."""
    if page.suffix != ".ipynb":
        return page.read_text(encoding="utf-8")
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    parts = [cell["source"] for cell in cells]
    parts += [
        data[kind] for data in shown for kind in ("text/markdown", "text/html") if kind in data
    ]
    return "\n".join("".join(part) for part in parts)


def uncited(entries, pages, citations):
    """The entries that no page links, names by title or label, or cites by author and year.

    Args:
        entries: of a bibliography, by name.
        pages: the text of all pages.
        citations: (author, year) pairs of docstrings; a quoted title is looked up in `pages`.
    """
    text = " ".join(pages.split()).casefold()
    authors = {name: _authors(entry) for name, entry in entries.items()}
    left = []
    for name, entry in entries.items():
        fields = entry.fields
        marks = [fields[kind] for kind in ("url", "doi") if kind in fields]
        marks += [_title(entry)] + ([f"[{fields['key']}]"] if "key" in fields else [])
        alike = [
            other
            for other in entries
            if other != name
            and authors[other][:1] == authors[name][:1]
            and entries[other].fields.get("year") == fields.get("year")
        ]
        by_year = not alike and any(
            (author, fields.get("year")) in citations for author in authors[name]
        )
        if not by_year and not any(mark.casefold() in text for mark in marks):
            left.append(name)
    return left


def _authors(entry):
    """The last words of the last names: Spärck Jones 1972 is found as Jones 1972."""
    return [one.last_names[-1].rpartition(" ")[2] for one in entry.persons.get("author", [])]


def _title(entry):
    """The title up to its colon; a short one would be found anywhere, so it is taken whole."""
    title = re.sub(r"[{}]| \(.+?\)", "", entry.fields["title"])
    first = title.partition(":")[0]
    return first if len(first) > 20 else title


def test_every_entry_is_cited_somewhere():
    files = [*FILES, *sorted((ROOT / "studies").rglob("*.py"))]
    sources = [path.read_text(encoding="utf-8") for path in files]
    citations = set().union(*map(cited, sources))
    text = "\n".join([*map(said_by, PAGES), *sources])
    assert uncited(BIBLIOGRAPHY, text, citations) == []


def test_an_entry_that_nothing_cites_is_found():
    text = """@misc{a, author = {Doe, Jane}, title = {One}, year = {2001}, url = {https://a.org/1}}
@misc{b, author = {Roe, Ann}, title = {A Title of Some Length: More}, year = {2002}}
@misc{c, author = {Poe, Eve}, title = {Three}, year = {2003}}
@misc{d, author = {Poe, Eve}, title = {Four in a Longer Title}, year = {2003}}
@misc{e, key = {S9}, title = {Five}}
@misc{f, author = {Noe, Kim}, title = {Six}, year = {2006}}"""
    known = parse_string(text, "bibtex").entries
    said = "See https://a.org/1, “a title of\nsome length”, [S9]; four in a longer title."
    assert uncited(known, said, {("Noe", "2006"), ("Poe", "2003")}) == ["c"]
    assert uncited(known, "", set()) == list("abcdef")


def test_the_lecture_notes_are_labelled_as_the_pages_cite_them():
    notes = [entry for name, entry in BIBLIOGRAPHY.items() if name.startswith("note-")]
    assert list(LabelStyle().format_labels(notes)) == ["S0", "S1", "S2", "S3", "S4"]
