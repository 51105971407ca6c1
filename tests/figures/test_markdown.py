"""Words that go into Markdown come out of it as they were."""

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gates2heads.figures.markdown import as_marked, as_text, filled, without_html

SIGNS = st.text("ab 1.#>+-<>/!?&;`*_$[]()|~\\'\"=é中", min_size=1, max_size=20)


def rendered(markdown):
    return BeautifulSoup(MarkdownIt("gfm-like").render(markdown), "html.parser")


def plain(page):
    return " ".join(page.get_text().split())


@given(SIGNS)
@example("<img src=x onerror=alert(1)>")
@example("<!--")
@example("&lt;")
def test_words_in_a_paragraph_are_shown_as_they_are(words):
    page = rendered(f"x {as_text(words)} x")
    assert {tag.name for tag in page.find_all()} == {"p"}
    assert plain(page) == " ".join(f"x {words} x".split())


@given(SIGNS.filter(lambda words: not re.search(r"[`*\s]", words)))
@example("1.")
@example("10)")
@example("-")
@example("#")
@example("<eos>")
def test_without_marks_a_text_is_one_paragraph_of_its_own(words):
    for text in (words, f"{words} a"):
        page = rendered(as_marked(text))
        assert [tag.name for tag in page.find_all()] == ["p"], as_marked(text)
        assert plain(page) == text


def test_code_and_emphasis_stay_and_nothing_else():
    page = rendered(as_marked("`a_b <c>` and *one <d> two*, 3 * 4, __x__ [y](z)\n\nend"))
    assert page.code.get_text() == "a_b <c>"
    assert page.em.get_text() == "one <d> two"
    assert {tag.name for tag in page.find_all()} == {"p", "code", "em"}
    assert page.get_text().strip() == "a_b <c> and one <d> two, 3 * 4, __x__ [y](z) end"


@given(SIGNS.filter(lambda words: "`" not in words and "\\" not in words))
def test_no_html_gets_through(words):
    page = rendered(f"x {without_html(words)}")
    known = {"p", "em", "strong", "s", "a"}
    assert {tag.name for tag in page.find_all()} <= known
    assert without_html(without_html(words).replace("\\", "")) == without_html(words)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([("a ", False), ("<b>", True)], r"a \<b>"),
        ([("a <br> ", False), ("&amp;", True)], r"a <br> \&amp;"),
        ([("`", False), ("<b>", True), ("`", False)], "`<b>`"),
        ([("``a ` ", False), ("<b>", True), (" ``", False)], "``a ` <b> ``"),
        ([("`a` ", False), ("<b>", True), (" `c`", False)], r"`a` \<b> `c`"),
        ([("", False), ("`<a>` <b> p < 0.05 & x", True)], r"`<a>` \<b> p < 0.05 & x"),
    ],
)
def test_words_fill_the_gaps_of_a_template(parts, told):
    assert filled(parts) == told
