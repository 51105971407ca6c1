"""The notation page has every symbol of the chapters' own tables, and each once a chapter."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "chapters" / "appendix" / "notation.md").read_text(encoding="utf-8")
CHAPTERS = sorted(
    path
    for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb")
    if not path.stem.endswith("_further")
)
SECTION = re.compile(r"^## Chapter (\d+), .+\n\n((?:\|.+\n)+)", re.M)
BETWEEN = re.compile(r"[,;](?![^{]*\})\s*")  # not a comma within an index such as t_{c,\nu}
FORMULA = re.compile(r"\$([^$]+)\$")


def symbols_of(written):
    """The symbols of a list such as "x_i,\\\\; y_t", without spaces; of "a = b" only a."""
    parts = BETWEEN.split(written.replace(r"\;", "").replace(r"\,", ""))
    named = (part.partition("=")[0] for part in parts)
    return [re.sub(r"\s", "", name) for name in named if name.strip() not in ("", r"\dots")]


def shown_by(notebook):
    """The symbols of the tables that a chapter's cells make with `symbols({…})`."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    found = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "symbols({" in re.sub(r"\s", "", source):
            tree = ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M))
            for call in ast.walk(tree):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "symbols":
                    for key in call.args[0].keys:
                        found += symbols_of(ast.literal_eval(key))
    return found


def told_of(chapter):
    """The symbols of a chapter on the notation page."""
    (table,) = [table for number, table in SECTION.findall(TEXT) if int(number) == chapter]
    heads = [row.split(" | ")[0] for row in table.splitlines()[2:]]
    return [name for head in heads for told in FORMULA.findall(head) for name in symbols_of(told)]


def sizes():
    """The letters of the table of sizes: what a chapter's table may leave out."""
    table = TEXT.partition("## Sizes")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| \$(\w)\$ \|", table, re.M))


def test_symbols_are_read():
    assert {"B", "S", "V"} <= sizes()
    assert symbols_of(r"t_{c,\nu},\; x_1, \dots, x_T;\; J = \partial h") == [
        r"t_{c,\nu}", "x_1", "x_T", "J"
    ]  # fmt: skip
    assert "f_t" in shown_by(CHAPTERS[0])


@pytest.mark.parametrize("notebook", CHAPTERS, ids=lambda path: path.stem)
def test_the_page_has_the_symbols_of_the_chapter(notebook):
    shown = shown_by(notebook)
    assert len(shown) > 5
    assert sorted(set(shown) - set(told_of(int(notebook.stem[:2]))) - sizes()) == []


@pytest.mark.parametrize("notebook", CHAPTERS, ids=lambda path: path.stem)
def test_a_symbol_has_one_meaning_in_a_chapter(notebook):
    for symbols in (shown_by(notebook), told_of(int(notebook.stem[:2]))):
        assert sorted({one for one in symbols if symbols.count(one) > 1}) == []
