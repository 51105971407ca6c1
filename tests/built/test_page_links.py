"""Terms lead to the glossary, mentions of figures to the figures; the rest of the page stays."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import page_links  # noqa: E402

LINES = """
| <span id="term-bag-of-words">**bag of words, continuous (CBOW)**</span> | 词 | A model. |
| <span id="term-memory">**memory**</span> | 记 | Pairs. |
| <span id="term-query">**query**</span> | 查 | What is wanted. |
"""
CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "themed_figures", "page_links"]
nb_execution_mode = "off"
root_doc = "page"
"""
TEXT = """# Page

A *query* and two *Queries*, *memories*, and *something else*.

See Figure 5.3, **Figure 5.3** and Figure 9.9. `Figure 5.3` is code. *A caption of Figure 5.3.*
"""


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
    other = (target / f"{page_links.GLOSSARY}.html").read_text(encoding="utf-8")
    assert 'href="../../page.html#figure-5-3">Figure 5.3</a>' in other
    assert "g2h-term" not in other
