"""Terms, figures, sections and exercises are linked where they are named; the rest stays."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.stored_prose import prose_of, prose_of_outputs, read

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import page_links  # noqa: E402
import stored_tables  # noqa: E402

LINES = """
| <span id="term-bag-of-words">**bag of words, continuous (CBOW)**</span> | 词 | A model. |
| <span id="term-memory">**memory**</span> | 记 | Pairs. |
| <span id="term-query">**query**</span> | 查 | What is wanted. |
"""
CONFIG = f"""
import sys
sys.path[:0] = [{str(ROOT / "_ext")!r}, {str(ROOT / "_ext" / "drawn")!r}]
extensions = ["myst_nb", "themed_figures", "page_links"]
nb_execution_mode = "off"
root_doc = "page"
"""
TEXT = """# Page

A *query* and two *Queries*, *memories*, and *something else*.

See Figure 5.3, **Figure 5.3** and Figure 9.9. `Figure 5.3` is code. *A caption of Figure 5.3.*

See sections 5.1 and 99.9, and [section 5.2](chapters/05_attention.md).
"""
FIVE = "chapters/05_attention"


@pytest.mark.parametrize(
    ("words", "anchor"),
    [
        ("continuous bag of words", "term-bag-of-words"),
        ("CBOW", "term-bag-of-words"),
        ("Query", "term-query"),
        ("queries", "term-query"),
        ("memories", "term-memory"),
        ("memory\ns", None),
        ("words", None),
    ],
)
def test_terms_are_found_in_their_forms(words, anchor):
    assert page_links.anchor_of(words, page_links.terms(LINES)) == anchor


def test_every_term_of_the_glossary_finds_its_own_line():
    text = (ROOT / f"{page_links.GLOSSARY}.md").read_text(encoding="utf-8")
    known = page_links.terms(text)
    assert len(set(known.values())) > 100
    for anchor, name in page_links.TERM.findall(text):
        assert page_links.anchor_of(name, known) == anchor


def named(found, said):
    """What is linked, with the page (short) and the anchor."""
    return [
        (said[start:end], page.removeprefix("chapters/")[:3], anchor)
        for start, end, page, anchor in found
    ]


@pytest.mark.parametrize(
    ("said", "linked"),
    [
        ("see chapter 5, section 5.1.", ["section 5.1"]),
        ("Sections 5.1, 5.2 and 5.4 to 5.6", ["Sections 5.1", "5.2", "5.4", "5.6"]),
        ("exercises 5.1 and 5.2; section\n5.3", ["exercises 5.1", "5.2", "section\n5.3"]),
        ("section 5.99, then 5.1 seconds, section 5.1.2, intersection 5.1", []),
        ("(Luong et al., section 3.2), and section 5.3 of the paper", []),
        (", section 10.2", []),
    ],
)
def test_a_mention_of_a_section_is_found(said, linked):
    assert [words for words, *_ in named(page_links.mentions(said, {}), said)] == linked


def test_a_mention_leads_to_the_place_that_it_names():
    said = "Exercise 5.1 and section 5.1"
    (_, *exercise), (_, *section) = named(page_links.mentions(said, {}), said)
    assert exercise == ["05_", "exercise-5-1-attention-in-one-line"]
    assert section == ["05_", "the-bottleneck-of-a-single-context-vector"]


def test_a_column_of_places_is_read():
    said = "1.4; 1F A, B; exercises 1.3, 1.4 · 0.048; 2F C"
    found = [words for words, *_ in named(page_links.listed(said), said)]
    assert found == ["1.4", "1F A", "B", "exercises 1.3", "1.4", "2F C"]


def test_a_place_at_the_end_of_a_sentence_is_read():
    said = "words and entities: 11.2; what that changes in 1.5 s: 11.5"
    assert [words for words, *_ in named(page_links.ending(said), said)] == ["11.2", "11.5"]


def all_prose(page: Path) -> str:
    """The Markdown of a page, what its cells display included."""
    if page.suffix == ".md":
        return page.read_text(encoding="utf-8")
    notebook = read(page)
    return f"{prose_of(notebook)}\n\n{prose_of_outputs(notebook)}"


@pytest.mark.parametrize(
    "page",
    [
        *sorted((ROOT / "chapters").glob("*.ipynb")),
        *sorted((ROOT / "chapters" / "appendix").glob("*.md")),
        *(ROOT / name for name in ("README.md", "DATA.md", "CONTRIBUTING.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    ],
    ids=lambda path: path.name,
)
def test_every_section_that_a_page_names_exists(page):
    text, known = all_prose(page), stored_tables.places()
    missing = []
    for place in page_links.PLACE.finditer(text):
        before = re.sub(r"\]\(\S+\)(?=, $)", "et al.", text[: place.start()])
        if page_links.ELSEWHERE.search(before):
            continue
        kind = "exercise " if place["kind"].lower() == "exercise" else ""
        numbers = page_links.NUMBER.findall(place["numbers"])
        missing += [kind + number for number in numbers if kind + number not in known]
    assert missing == []


RAW = 'Or <a href="a.html">section 5.2</a>.'


@pytest.mark.slow
def test_the_built_page_is_linked(tmp_path):
    figure = {"svg": "<svg></svg>", "alt": "A.", "caption": "C.", "content": {}, "number": "5.3"}
    output = nbformat.v4.new_output("display_data", {page_links.FIGURE_MIME: figure})
    code = nbformat.v4.new_code_cell("show()", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(TEXT), code])
    notebook.metadata.language_info = {"name": "python", "pygments_lexer": "ipython3"}
    source, target = tmp_path / "source", tmp_path / "built"
    (source / "chapters" / "appendix").mkdir(parents=True)
    nbformat.write(notebook, source / "page.ipynb")
    glossary = (
        f"# Glossary\n\n| term | 中文 | meaning |\n|---|---|---|{LINES}\nSee Figure 5.3, *query*.\n"
    )
    (source / f"{page_links.GLOSSARY}.md").write_text(f"---\norphan: true\n---\n{glossary}")
    five = f"# 5\n\nSee section 5.1.\n\n{RAW}\n"
    (source / f"{FIVE}.md").write_text(f"---\norphan: true\n---\n{five}")
    (source / "conf.py").write_text(CONFIG)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", source, target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (target / "page.html").read_text(encoding="utf-8")
    body = re.search(r'<div class="body" role="main">(.*)', page, re.S)[1]
    to_terms = re.findall(r'<a class="g2h-term[^"]*" href="([^"]+)"><em>(\w+)</em></a>', body)
    assert to_terms == [
        (f"{page_links.GLOSSARY}.html#term-query", "query"),
        (f"{page_links.GLOSSARY}.html#term-memory", "memories"),
    ]
    assert '<figure class="g2h-figure" id="figure-5-3"' in body
    assert re.findall(r'<a[^>]*href="([^"]*)">Figure', body) == ["#figure-5-3"] * 2
    assert "and Figure 9.9" in body
    anchors = [page_links.section_of(number)[1] for number in ("5.1", "5.2")]
    to_sections = re.findall(rf'href="{FIVE}.html#([^"]+)">([^<]+|<span.+?</span>)</a>', body)
    assert [anchor for anchor, _ in to_sections] == anchors
    assert to_sections[0][1] == "sections 5.1"
    assert "and 99.9" in body
    five = (target / f"{FIVE}.html").read_text(encoding="utf-8")
    assert f'href="#{anchors[0]}">section 5.1</a>' in five
    assert RAW in five  # no link within a link
    other = (target / f"{page_links.GLOSSARY}.html").read_text(encoding="utf-8")
    assert 'href="../../page.html#figure-5-3">Figure 5.3</a>' in other
    assert "g2h-term" not in other
