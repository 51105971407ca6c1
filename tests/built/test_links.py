"""Links and anchors of the built pages, and a planted fault of each kind."""

from pathlib import Path

import pytest
import yaml

from tools.book.site_check import check, pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.book
def test_every_address_of_the_book_resolves_inside_it(site):
    assert len(pages(site)) >= 6
    assert check(site) == []


@pytest.mark.book
def test_every_page_of_the_contents_is_built(site):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    documents = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    missing = [name for name in documents if not (site / f"{name}.html").is_file()]
    assert missing == []


@pytest.mark.book
def test_the_first_page_tells_the_size_of_the_library(site):
    (wheel,) = site.glob("gates2heads-*.whl")
    page = (site / "chapters" / "intro.html").read_text(encoding="utf-8")
    assert f"(one compressed file of {round(wheel.stat().st_size / 1e6)} MB;" in " ".join(
        page.split()
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<a href="b.html#nowhere">x</a>', "b.html#nowhere has no such anchor"),
        ('<a href="#nowhere">x</a>', "#nowhere has no such anchor"),
        ('<a href="../outside.html">x</a>', "../outside.html leaves the book"),
        ('<a href="/b.html">x</a>', "/b.html starts at the server's root"),
        ('<script src="https://example.org/x.js"></script>', "https://example.org/x.js leaves"),
        ('<script src="//example.org/x.js"></script>', "//example.org/x.js leaves the book"),
        ('<img src="gone.png" alt="">', "gone.png leads nowhere"),
        ('<img srcset="gone.png 2x" alt="">', "gone.png leads nowhere"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "x.css leaves the book"),
        ('<p style="background: url(gone.png)">x</p>', "gone.png leads nowhere"),
        ("<style>@import 'https://example.org/x.css';</style>", "x.css leaves the book"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, line, fault):
    (tmp_path / "b.html").write_text('<p id="here">x</p>')
    (tmp_path / "a.html").write_text(f'<a href="b.html#here">sound</a>{line}')
    faults = check(tmp_path)
    assert len(faults) == 1
    assert faults[0].startswith("a.html: ")
    assert fault in faults[0]


def test_a_stylesheet_that_asks_elsewhere_is_found(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url(https://example.org/f.woff2) }")
    assert check(tmp_path) == ["a.css: https://example.org/f.woff2 leaves the book"]


def test_links_to_read_on_may_lead_out(tmp_path):
    (tmp_path / "a.html").write_text('<a href="https://arxiv.org/abs/1409.0473">paper</a>')
    assert check(tmp_path) == []
