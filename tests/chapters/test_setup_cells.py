"""The first code cell of each chapter: what it says without the library, what it does on Colab."""

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))
pytestmark = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)


def first_cell(chapter: Path) -> str:
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    code = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return TransformerManager().transform_cell(code)


class Shell:
    """Stands for IPython and keeps the magics that a cell calls."""

    def __init__(self):
        self.magics = []

    def run_line_magic(self, name, line):
        self.magics.append((name, line))

    def __call__(self):
        return self


@pytest.fixture
def no_library(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATES2HEADS_SOURCE", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_one_clear_sentence_without_the_library(chapter, no_library):
    shell, code = Shell(), re.sub(r'^BOOK = ".*"$', 'BOOK = ""', first_cell(chapter), flags=re.M)
    with pytest.raises(ModuleNotFoundError, match="gates2heads is not installed: put its wheel"):
        exec(code, {"get_ipython": shell})
    assert not shell.magics


def test_a_wheel_beside_the_notebook_is_installed(chapter, no_library):
    (no_library / "gates2heads-0.1.0-py3-none-any.whl").touch()
    shell = Shell()
    exec(first_cell(chapter), {"get_ipython": shell})
    assert shell.magics == [("pip", 'install -q "$source"')]


def test_the_newest_whole_wheel_is_taken(chapter, no_library):
    # A file that Colab got twice has " (1)" in its name, which pip refuses.
    for version in ("0.1.0-py3-none-any", "0.2.0-py3-none-any", "0.3.0-py3-none-any (1)"):
        (no_library / f"gates2heads-{version}.whl").touch()
    names = {"get_ipython": Shell()}
    exec(first_cell(chapter), names)
    assert names["source"] == "gates2heads-0.2.0-py3-none-any.whl"


def test_the_address_of_the_book_comes_last(chapter, no_library):
    code, places = re.subn(
        r'^BOOK = ".*"$', 'BOOK = "git+https://x.org/y"', first_cell(chapter), flags=re.M
    )
    assert places == 1
    names = {"get_ipython": Shell()}
    exec(code, names)
    assert names["source"] == "git+https://x.org/y"
    (no_library / "gates2heads-0.1.0-py3-none-any.whl").touch()
    exec(code, names)
    assert names["source"] == "gates2heads-0.1.0-py3-none-any.whl"


def test_a_named_source_comes_first(chapter, no_library, monkeypatch):
    (no_library / "gates2heads-0.1.0-py3-none-any.whl").touch()
    monkeypatch.setenv("GATES2HEADS_SOURCE", "git+https://example.org/book")
    names = {"get_ipython": Shell()}
    exec(first_cell(chapter), names)
    assert names["source"] == "git+https://example.org/book"


def test_with_the_library_nothing_is_installed(chapter):
    shell = Shell()
    exec(first_cell(chapter), {"get_ipython": shell})
    assert not shell.magics


def test_the_page_leaves_out_what_only_a_kernel_needs(chapter):
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    installs, imports = code[:2]
    assert "".join(installs["source"]).startswith("# @title Set-up: install")
    assert "import " in "".join(imports["source"])
    assert {"setup", "remove-cell"} <= set(installs["metadata"]["tags"])
    # The first page has no open code; elsewhere the book finds the cell by its tag `imports`.
    shown = "remove-cell" if chapter.stem == "intro" else "imports"
    assert {"setup", shown} <= set(imports["metadata"]["tags"])


def test_one_thread_unless_the_reader_chose_otherwise(chapter, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    exec(first_cell(chapter), {"get_ipython": Shell()})
    assert os.environ["OMP_NUM_THREADS"] == "3"
    monkeypatch.delenv("OMP_NUM_THREADS")
    exec(first_cell(chapter), {"get_ipython": Shell()})
    assert os.environ.pop("OMP_NUM_THREADS") == "1"
