"""The terms check: what it reads, what it finds, and what it excuses."""

import re

import nbformat
import pytest

from tools import terms
from tools.terms import ROOT, Term, checked, faults, main, read_terms

PLACE = Term(re.compile(r"\bplaces?\b"), "position", re.compile("take place"))


def found(path, *listed):
    return [str(one) for one in faults(path, list(listed or [PLACE]))]


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def notebook(write):
    def notebook(*cells):
        made = nbformat.v4.new_notebook()
        for place, (kind, source) in enumerate(cells):
            make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
            made.cells.append(make(source, id=f"c{place}"))
        return write("page.ipynb", nbformat.writes(made))

    return notebook


def test_a_listed_word_in_markdown_is_found_with_its_cell_and_replacement(notebook):
    path = notebook(("markdown", "Fine."), ("markdown", "At every place it reads a token."))
    assert found(path) == ["page.ipynb, cell c1: “At every place it reads a token.” → position"]


@pytest.mark.parametrize(
    "text",
    [
        "a `place` in code",
        "```python\nplace = 3\n```",
        "a formula $place$ and $$place$$",
        "[a link](https://example.org/place)",
        "It will take place.",
        "<!-- term: place, a town is meant --> A place of 900 people.",
    ],
)
def test_code_formulas_addresses_and_exceptions_are_left_alone(notebook, text):
    assert found(notebook(("markdown", text))) == []


def test_an_excuse_needs_a_reason(notebook):
    assert found(notebook(("markdown", "<!-- term: place, --> A place.")))


def test_strings_of_a_code_cell_are_read_and_its_names_and_fields_are_not(notebook):
    code = '%matplotlib inline\nplace = 1\nprose("at {place} of the row", place=place)'
    assert found(notebook(("code", code))) == []
    assert found(notebook(("code", 'prose("the place is {n}", n=1)')))
    assert found(notebook(("code", 'show(caption=f"the place {1}, here")')))


def test_python_files_are_read_with_their_docstrings(write):
    path = write("view.py", '"""A place in the picture."""\n\nx = {"place": "data-place"}\n')
    assert found(path) == ["view.py, line 1: “A place in the picture.” → position"]
    assert found(write("call.py", '"""Call.\n\n    Args:\n        place: a row.\n"""\n')) == []


def test_scripts_are_read_without_comments_names_and_insertions(write):
    path = write(
        "view.js",
        '// the place of a cell\nconst a = "data-place";\n/* a place */\n'
        "const b = `cell ${nodes[place].row({ place })} of many`;\n"
        "const c = `the place ${a}`;\n",
    )
    assert found(path) == ["view.js, line 5: “the place” → position"]


def test_another_kind_of_file_is_refused(write):
    with pytest.raises(ValueError, match=r"look\.css must be a notebook"):
        found(write("look.css", "a {}"))


@pytest.mark.parametrize("line", ["place", "a\t", "a\tb\tc", "a\tb\tc\t", "(\tb"])
def test_a_bad_line_of_the_table_is_named(write, line):
    with pytest.raises(ValueError, match=r"terms\.tsv:2"):
        read_terms(write("terms.tsv", f"# the table\n{line}\n"))


def test_the_book_s_table_can_be_read_and_finds_what_it_lists():
    listed = read_terms()
    for phrase in ("the place", "a length rule", "the likeliest token", "Press any", "anew"):
        assert any(term.pattern.search(phrase) for term in listed), phrase
    assert all(not term.pattern.search("the most probable token") for term in listed)


def test_all_files_but_the_listed_ones_are_checked(monkeypatch, write):
    paths = checked()
    for name in ("src/gates2heads/__main__.py", "README.md", "Makefile", "docs/commands.md"):
        assert ROOT / name in paths
    monkeypatch.setattr(terms, "UNREVISED", write("unrevised.txt", "# one\nREADME.md\n"))
    assert ROOT / "README.md" not in checked()
    monkeypatch.setattr(terms, "UNREVISED", write("unrevised.txt", "chapters/none.ipynb\n"))
    with pytest.raises(ValueError, match=r"lists missing files: chapters/none\.ipynb"):
        checked()


def test_comments_are_checked_with_the_lines_that_they_run_over(write):
    path = write("a.py", "x = 1  # a number\n# the\n# place\n")
    assert found(path) == ["a.py, line 1: “a number the place” → position"]


def test_code_in_a_string_is_not_checked(write):
    assert found(write("a.py", 'RUN = """\nplace = 1\nprint(place)\n"""\n')) == []


def test_markdown_and_the_texts_of_a_makefile_are_checked(write):
    path = write("a.md", "# Title\n\n```\nthe place\n```\n\nAt the place.\n")
    assert found(path) == ["a.md, line 7: “At the place.” → position"]
    path = write("Makefile", 'help:\n\t@echo "the place"\n# a place\n')
    assert found(path) == ["Makefile, line 2: “the place” → position"]


def test_the_command_fails_where_something_is_found(write, capsys):
    assert main([str(write("a.js", 'const a = "the place here";'))]) == 1
    assert "→ position" in capsys.readouterr().out
    assert main([str(write("b.js", 'const a = "the position here";'))]) == 0
    assert "1 files, nothing found" in capsys.readouterr().out
