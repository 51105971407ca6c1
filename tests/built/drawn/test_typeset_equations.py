"""Equations are typeset while the book is built: each one, with its number, or the build ends."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ASSETS = ROOT / "_assets"
CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext" / "drawn")!r})
extensions = ["myst_parser", "typeset_equations"]
myst_enable_extensions = ["dollarmath"]
root_doc = "page"
"""


def build(
    folder: Path, text: str, assets: Path = ASSETS
) -> tuple[subprocess.CompletedProcess, str]:
    """Build a book of one page; give what Sphinx said, and the page's body."""
    config = f"{CONFIG}html_extra_path = [{str(assets)!r}]\n"
    (folder / "conf.py").write_text(config, encoding="utf-8")
    (folder / "page.md").write_text(f"# Page\n\n{text}\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    page = folder / "out" / "page.html"
    return done, page.read_text(encoding="utf-8") if page.exists() else ""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with equations of every kind that the book has."""
    text = "\n\n".join(
        [
            r"The sum (the $\sqrt{K}$), that is $a^\top b$; and $c$ too.",
            "$$ \\begin{aligned} a &= b \\\\ c &= d \\end{aligned} \\tag{5.3} $$",
            r"$$ a < b $$",
        ]
    )
    done, html = build(tmp_path_factory.mktemp("book"), text)
    assert done.returncode == 0, done.stderr
    return html


def test_every_equation_is_there_for_eyes_and_for_screen_readers(page):
    assert page.count('class="math notranslate nohighlight"') == 5
    assert page.count("<math ") == page.count('aria-hidden="true"') == 5
    assert page.count('class="katex-display"') == 2
    assert r"\sqrt{K}</annotation>" in page
    assert "a &lt; b" in page


def test_an_equation_keeps_its_own_number(page):
    assert page.count('class="katex-tag"') == 1
    assert "<mtext>(5.3)</mtext>" in page


def test_punctuation_stays_with_the_equation_that_it_touches(page):
    assert "</span></span></span>),</span> that is " in page
    assert "</span></span></span>;</span> and " in page
    assert "</span></span></span></span> too." in page


def test_pages_run_no_typesetter_and_have_its_style_sheet(page, tmp_path):
    assert 'href="vendor/katex/katex.min.css' in page
    assert "MathJax" not in page
    done, html = build(tmp_path, "No equation.")
    assert done.returncode == 0
    assert "vendor/katex" not in html
    assert not list((tmp_path / "out" / "vendor" / "katex").glob("*.mjs"))


@pytest.mark.parametrize("wrong", [r"$\frac{1}$", r"$\nosuchcommand$", r"$$ \text{a $$"])
def test_an_equation_that_cannot_be_typeset_ends_the_build(tmp_path, wrong):
    done, _ = build(tmp_path, wrong)
    assert done.returncode != 0
    assert "cannot be typeset: KaTeX parse error" in done.stderr


def test_without_katex_the_build_says_what_to_run(tmp_path):
    book, assets = tmp_path / "book", tmp_path / "assets"
    book.mkdir()
    assets.mkdir()
    done, _ = build(book, "No equation.", assets)
    assert done.returncode != 0
    assert "katex.mjs is missing: run python tools/fetch_assets.py first." in done.stderr
