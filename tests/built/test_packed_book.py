"""What the zip file of the built book holds."""

import zipfile
from pathlib import Path

import pytest

from tools.book import pack_book

ROOT = Path(__file__).resolve().parents[2]


def names(path):
    """What is in a zip file, without its outermost folder."""
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        found = packed.namelist()
    assert {name.partition("/")[0] for name in found} == {pack_book.FOLDER}
    return {name.partition("/")[2] for name in found}


def test_it_holds_every_file_and_the_licence(tmp_path):
    book = tmp_path / "html"
    (book / "chapters").mkdir(parents=True)
    for name in ("index.html", "chapters/intro.html", ".buildinfo"):
        (book / name).write_text(name, encoding="utf-8")
    packed = pack_book.pack(book, tmp_path / "book.zip")
    assert names(packed) == {"index.html", "chapters/intro.html", "LICENSE"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.zip", "html"]


def test_without_a_built_book_it_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="run make book first"):
        pack_book.pack(tmp_path, tmp_path / "book.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.book
def test_the_packed_book_has_all_pages_and_the_files_of_the_models(site, tmp_path):
    found = names(pack_book.pack(site, tmp_path / "book.zip"))
    chapters = {path.stem for path in (ROOT / "chapters").glob("*.ipynb")}
    assert {f"chapters/{name}.html" for name in chapters} <= found
    appendix = {path.stem for path in (ROOT / "chapters" / "appendix").glob("*.md")}
    assert {f"chapters/appendix/{name}.html" for name in appendix} <= found
    assert {"index.html", "LICENSE"} <= found
    live = {f"live/{path.name}" for path in (site / "live").glob("*.js")}
    assert len(live) > 20
    assert live <= found
    assert any(name.endswith(".whl") for name in found)
