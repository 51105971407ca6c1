"""The class edition has no solutions, and every exercise has a test for otter-grader."""

import copy
import html
import json
import re
import sys
from types import ModuleType

import nbformat
import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tools.teaching import autograde, class_edition
from tools.teaching.without_solutions import (
    SHARED,
    VIEW,
    WIDGETS,
    chapters,
    check_of,
    found_in,
    is_solution,
    open_code,
    secrets,
    solutions,
    stripped,
)

WHOLE = {path: nbformat.read(path, as_version=4) for path in chapters()}
KNOWN = open_code(WHOLE.values())
SECRETS = {path: secrets(notebook, KNOWN) for path, notebook in WHOLE.items()}
LINES = set().union(*(lines for one in SECRETS.values() for lines in one.values()))
TESTS = {path: autograde.tests_of(notebook) for path, notebook in WHOLE.items()}
each_page = pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)


def test_every_solution_has_lines_to_look_for():
    assert len(LINES) > 800
    assert [cell for one in SECRETS.values() for cell, lines in one.items() if not lines] == []


@each_page
def test_no_line_of_any_solution_is_in_a_stripped_chapter(path):
    handed_out = class_edition.handed_out(WHOLE[path])
    nbformat.validate(handed_out)
    assert found_in(nbformat.writes(handed_out), LINES) == []


@each_page
def test_all_the_rest_of_a_chapter_is_kept_with_its_outputs(path):
    kept = [cell for cell in WHOLE[path].cells if not is_solution(cell)]
    assert stripped(WHOLE[path]).cells == kept
    states = [one.metadata.get("widgets", {}) for one in (stripped(WHOLE[path]), WHOLE[path])]
    assert states[0] == states[1]  # no solution shows a view


@each_page
def test_the_search_finds_a_chapter_with_its_solutions(path):
    wanted = set().union(*SECRETS[path].values())
    assert set(found_in(nbformat.writes(WHOLE[path]), wanted)) == wanted


def test_the_search_finds_code_on_a_page_and_in_a_data_file(tmp_path):
    line = "    return (keys @ query).softmax(-1) @ values if query.dim() < 2 else None"
    page = highlight(line, PythonLexer(), HtmlFormatter())
    for name, text in {
        "page.html": f"<p>{page}</p>",
        "words.html": f"<p>It says “{html.escape(line)}” – here.</p>",
        "data.json": json.dumps({"text": f"a\n{line}\n"}),
        "searchindex.js": '{"terms":{"softmax":1,"saddlepoint":2}}',
        "clean.html": "<p>keys, query, values</p>",
        "library.whl": "",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    faults = class_edition.leaks(tmp_path, {line.strip()}, {"saddlepoint"})
    assert [one.partition(":")[0] for one in faults] == [
        "data.json",
        "library.whl",
        "page.html",
        "searchindex.js",
        "words.html",
    ]


def test_a_line_that_is_excused_occurs_in_a_solution_and_outside():
    solved = (
        nbformat.v4.new_notebook(cells=list(filter(is_solution, one.cells)))
        for one in WHOLE.values()
    )
    for notebooks in (solved, map(stripped, WHOLE.values())):
        text = "\n".join(map(nbformat.writes, notebooks))
        assert set(found_in(text, SHARED)) == set(SHARED)


def test_a_solution_without_the_tag_is_refused():
    bad = copy.deepcopy(next(iter(WHOLE.values())))
    next(filter(is_solution, bad.cells)).metadata.tags = []
    with pytest.raises(ValueError, match="not the tag `solution`"):
        stripped(bad)


def test_the_state_of_a_view_goes_with_the_solution_that_shows_it():
    cells = [
        nbformat.v4.new_code_cell(
            "view",
            metadata={"tags": tags},
            outputs=[nbformat.v4.new_output("display_data", {VIEW: {"model_id": name}})],
        )
        for name, tags in (("a", []), ("b", ["solution"]))
    ]
    states = {"a": {"layout": "IPY_MODEL_c"}, "b": {"layout": "IPY_MODEL_d"}, "c": {}, "d": {}}
    both = nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {WIDGETS: {"state": states}}})
    assert set(stripped(both).metadata.widgets[WIDGETS]["state"]) == {"a", "c"}


@each_page
def test_the_solutions_apart_are_all_there_each_after_its_exercise(path):
    apart = solutions(WHOLE[path], path.stem)
    solved = list(filter(is_solution, WHOLE[path].cells))
    assert (apart is None) == (solved == [])
    if apart:
        nbformat.validate(apart)
        told = nbformat.writes(apart)
        assert [cell.id for cell in apart.cells if is_solution(cell)] == [c.id for c in solved]
        for exercise in re.findall(r"### Exercise \d+\.\d+", "\n".join(c.source for c in solved)):
            assert exercise in told


def test_the_first_page_of_the_class_edition_offers_neither_library_nor_answers():
    texts = "\n".join(
        cell.source for cell in class_edition.first_page().cells if cell.cell_type == "markdown"
    )
    assert ".whl" not in texts
    assert "teaching.md" not in texts
    assert not re.search("for teachers|for-teachers|teach a course", texts, re.I)
    assert "choose a chapter</a>" in texts
    # the sentence before the removed one is whole
    assert texts.count("do not include lectures.\n") == 1
    assert "1. Ask your teacher for the library (" in texts


@each_page
def test_every_check_of_a_page_is_a_test_that_an_unfilled_copy_fails(path, monkeypatch):
    asked = [found for cell in WHOLE[path].cells if (found := check_of(cell))]
    assert len(TESTS[path]) == len(asked)
    otter = ModuleType("otter.test_files")
    otter.test_case = lambda points: lambda function: function
    monkeypatch.setitem(sys.modules, "otter", ModuleType("otter"))
    monkeypatch.setitem(sys.modules, "otter.test_files", otter)
    for (exercise, _, _), (name, code) in zip(asked, TESTS[path].items(), strict=True):
        names = {}
        exec(code, names)
        assert names["name"] == name
        with pytest.raises(AssertionError, match=f"Exercise {exercise}: not tried yet"):
            names["graded"]({})


def test_the_marks_of_the_cells_can_be_set_again():
    path = next(path for path in WHOLE if path.stem == "05_attention")
    handed_out = class_edition.handed_out(WHOLE[path])
    bare = copy.deepcopy(handed_out)
    for cell in bare.cells:
        cell.metadata.pop("otter", None)
    checks = {
        found[1]: class_edition.test_name(found[0])
        for cell in handed_out.cells
        if (found := check_of(cell))
    }
    assert autograde.marked(bare, checks) == handed_out
    assert sum("otter" in cell.metadata for cell in handed_out.cells) == len(checks)


def test_a_page_is_found_by_the_name_of_the_file():
    known = ["05_attention", "05_attention_further", "06_self_attention"]
    names = ("05_attention_further (2)", "anna_05_attention", "essay")
    found = [autograde.page_of(chapters()[0].with_name(f"{one}.ipynb"), known) for one in names]
    assert found == ["05_attention_further", "05_attention", ""]


@pytest.mark.parametrize("text", ["{}", "[]", "7", "no JSON", '{"cells": 3, "nbformat": 4}', ""])
def test_a_file_that_is_no_notebook_gets_no_points_and_the_others_are_graded(
    tmp_path, monkeypatch, capsys, text
):
    (tmp_path / "autograders" / "05_attention").mkdir(parents=True)
    monkeypatch.setattr(autograde, "AUTOGRADERS", tmp_path / "autograders")
    for name in ("ann/05_attention.ipynb", "bob/my_05_attention_2.ipynb", "bob/notes.ipynb"):
        path = tmp_path / "handed_in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    whole = next(one for path, one in WHOLE.items() if path.stem == "05_attention")
    asked = [found for cell in whole.cells if (found := check_of(cell))]
    count = autograde.grade(tmp_path / "handed_in", tmp_path / "marks.csv", 60)
    rows = (tmp_path / "marks.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == count + 1 == 2 * len(asked) + 2
    assert all(row.endswith(",0,1,cannot be read as a notebook") for row in rows[1:-1])
    assert rows[-1] == f"bob,notes.ipynb,,0,0,{autograde.NO_PAGE}"
    assert f"ann, 05_attention: 0 of {len(asked)} points" in capsys.readouterr().out
