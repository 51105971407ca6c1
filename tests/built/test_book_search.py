"""What the index of the search takes from a page, and what it leaves out."""

import importlib
import sys
from pathlib import Path

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def book_search():
    sys.path.insert(0, str(ROOT / "_ext"))
    yield importlib.import_module("book_search")
    sys.path.remove(str(ROOT / "_ext"))


def paragraph(text, **named):
    return nodes.paragraph("", text, **named)


def raw(html):
    return nodes.raw("", html, format="html")


def test_solutions_code_and_provenance_are_left_out(book_search):
    section = nodes.section("", ids=["here"])
    section += nodes.title("", "8.1 Heading")
    section += paragraph("Said.")
    section += nodes.literal_block("", "code()")
    section += [raw("<details class='solution'>"), paragraph("Answer."), raw("</details>")]
    section += [raw("<details>"), paragraph("Folded."), raw("</details>")]
    section += [raw('<div class="g2h-twin">'), paragraph("Predicted."), raw("</div>")]
    section += nodes.container("", paragraph("Seen."), classes=["tag_solution"])
    section += paragraph("Tested: 1", classes=["g2h-claims"])
    formula = paragraph("with ")
    formula += [nodes.math("", r"\alpha = 0.6"), nodes.Text(" and "), nodes.math("", r"x_t^2")]
    section += formula
    under = nodes.section("", nodes.title("", "Under"), paragraph("Below."), ids=["under"])
    section += under
    page = nodes.document("", "")
    page += nodes.section("", nodes.title("", "Page"), section, ids=["page"])
    assert book_search.records(page) == [
        ["", "Page", ""],
        ["here", "8.1 Heading", "Said. Folded. with α = 0.6 and …"],
        ["under", "Under", "Below."],
    ]


def test_chapters_count_more_than_what_looks_up(book_search):
    names = ["08_decoding", "08_decoding_further", "appendix/glossary", "appendix/bibliography"]
    weights = [book_search.weight(f"chapters/{name}") for name in names]
    assert weights == sorted(set(weights), reverse=True)


def test_a_search_page_that_is_another_is_refused(book_search):
    with pytest.raises(ExtensionError, match="cannot see"):
        book_search.settled("<script src='_static/other.js'></script>")


@pytest.mark.book
def test_only_the_search_page_loads_the_index():
    site = ROOT / "_build" / "html"
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert ("search/index.js" in text) == (page.name == "search.html"), page
        assert "searchtools.js" not in text, page
        assert "searchindex.js" not in text, page
