"""Every paper that a docstring of the library cites is in references.bib."""

import ast
import re
from pathlib import Path

import pytest
from pybtex.database import parse_string

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_source_has_an_entry(path):
    assert missing(cited(path.read_text(encoding="utf-8")), KNOWN) == []


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
