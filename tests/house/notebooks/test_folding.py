"""Cells are folded for all readers at once, and what stays open on a page is counted."""

import copy

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.views import FrameViewer
from tools import execute_notebooks
from tools.notebooks.folding import KINDS, Limits, faults, fold, kind_of, open_blocks, open_lines


def code(source, *tags, outputs=(), **metadata):
    cell = nbformat.v4.new_code_cell(source, outputs=list(outputs), id="a")
    cell.metadata.update(metadata)
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def book(*cells):
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return nbformat.v4.new_notebook(cells=list(cells))


def listing(markdown):
    return nbformat.v4.new_output("display_data", {"text/markdown": markdown})


class TestFold:
    def test_a_cell_that_sets_up_is_folded_in_all_three(self):
        cell = code("# @title Data\nx = 1\ny = 2", "setup", "approx-0.1")
        fold(cell)
        assert cell.metadata == {
            "tags": ["setup", "approx-0.1", "hide-input"],
            "jupyter": {"source_hidden": True},
            "cellView": "form",
            "mystnb": {
                "code_prompt_show": "Data · 2 lines",
                "code_prompt_hide": "Data · 2 lines",
            },
        }
        assert cell.source == "# @title Data\nx = 1\ny = 2"

    def test_a_cell_that_tells_leaves_its_output_alone_on_the_page(self):
        cell = code("prose('…')", "tell")
        fold(cell)
        assert cell.metadata["tags"] == ["tell", "remove-input"]
        assert "mystnb" not in cell.metadata
        assert cell.source == "# @title What the run says\nprose('…')"

    def test_an_open_cell_and_a_text_stay_as_they_are(self):
        for cell in (code("x = 1", "approx-0.1"), nbformat.v4.new_markdown_cell("text", id="b")):
            before = copy.deepcopy(cell)
            fold(cell)
            assert cell == before

    @pytest.mark.parametrize("kind", KINDS)
    def test_without_its_tag_a_cell_opens_for_everybody(self, kind):
        cell = code("x = 1", kind, jupyter={"outputs_hidden": True}, mystnb={"image": {}})
        fold(cell)
        cell.metadata["tags"].remove(kind)
        fold(cell)
        assert cell.metadata == {"jupyter": {"outputs_hidden": True}, "mystnb": {"image": {}}}

    @given(st.sampled_from([None, *KINDS]), st.text(), st.booleans())
    def test_folding_twice_is_folding_once(self, kind, source, collapsed):
        tags = [kind] if kind else []
        cell = code(source, *tags, jupyter={"source_hidden": collapsed})
        fold(cell)
        once = copy.deepcopy(cell)
        fold(cell)
        assert cell == once
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        assert hidden is (cell.metadata.get("cellView") == "form") is (kind is not None)

    def test_two_tags_are_one_too_many(self):
        with pytest.raises(ValueError, match=r"cell 3 must have one of the tags .*'draw', 'tell'"):
            kind_of(code("", "draw", "tell"), "cell 3")


class TestExecute:
    def test_the_tool_folds_without_running_and_keeps_the_outputs(self, tmp_path):
        path = tmp_path / "a.ipynb"
        nbformat.write(book(code("1 / 0", "draw", outputs=[listing("drawn")])), path)
        assert execute_notebooks.main(["--as-it-is", str(path)]) == 0
        cell = nbformat.read(path, as_version=4).cells[0]
        assert cell.metadata["cellView"] == "form"
        assert cell.outputs[0].data == {"text/markdown": "drawn"}

    def test_a_stored_view_gets_the_librarys_code_and_keeps_its_numbers(self, tmp_path):
        path, view = tmp_path / "a.ipynb", FrameViewer
        state = {"_anywidget_id": f"{view.__module__}.FrameViewer", "_esm": "old", "index": 3}
        notebook = book(code("1"))
        notebook.metadata["widgets"] = {
            execute_notebooks.WIDGET_STATE: {"state": {"0" * 32: {"state": state}}}
        }
        nbformat.write(notebook, path)
        assert execute_notebooks.renew_views(notebook) == ["FrameViewer"]
        assert execute_notebooks.renew_views(notebook) == []
        assert execute_notebooks.main(["--as-it-is", str(path)]) == 0
        saved = nbformat.read(path, as_version=4).metadata["widgets"]
        (entry,) = saved[execute_notebooks.WIDGET_STATE]["state"].values()
        now = {"_esm": str(view._esm), "_css": str(view._css)}
        assert entry["state"] == state | now

    def test_a_cell_with_two_tags_is_named_and_the_file_kept(self, tmp_path, capsys):
        path = tmp_path / "a.ipynb"
        nbformat.write(book(code("1", "draw", "setup")), path)
        before = path.read_bytes()
        assert execute_notebooks.main(["--as-it-is", str(path)]) == 1
        assert "a.ipynb: cell 0 must have one of the tags" in capsys.readouterr().err
        assert path.read_bytes() == before


HIDDEN = "<details><summary>More</summary>\n\n```python\nhidden = 1\n```\n\n</details>"
DERIVED = f'<details class="exercise"><summary>Try</summary>\n\n{HIDDEN}\n\n```\nx\n```\n</details>'


class TestOpenLines:
    def test_by_hand(self):
        page = book(
            nbformat.v4.new_markdown_cell(f"Text\n\n```python\na = 1\nb = 2\n```\n\n{DERIVED}"),
            code("x = 1\n\ny = 2"),
            code("z = 1\n" * 30, "setup"),
            code("w = 1", "remove-cell", outputs=[listing("```python\nx\n```")]),
            code("show_source(f)", "tell", outputs=[listing("**f**\n\n```python\ndef f():\n```")]),
        )
        found = [(block.cell, block.kind, block.lines) for block in open_blocks(page)]
        assert found == [(0, "text", 2), (1, "cell", 3), (4, "listing", 1)]
        assert open_lines(page) == 6
        assert faults(page) == []

    @pytest.mark.parametrize(
        ("sources", "limits", "message"),
        [
            (["x\n" * 4, "y\n" * 3], Limits(lines=6), "7 lines of code are open, at most 6 may"),
            (["x\n" * 4, "y"], Limits(median=2), "the median open cell has 2.5 lines, at most 2"),
            (["x\n" * 4, "y"], Limits(longest=3), "cell 0 has 4 lines, at most 3"),
            (
                ["y", "x" * 5],
                Limits(width=4),
                "a line in cell 1 (cell) has 5 characters, 4 fit the column",
            ),
        ],
    )
    def test_too_much_is_said(self, sources, limits, message):
        assert faults(book(*map(code, sources)), limits) == [message]

    def test_a_folded_line_may_be_no_wider_either(self):
        page = book(code("x" * 81, "setup"))
        assert faults(page) == [
            "a line in cell 0 (cell) has 81 characters, 80 fit the column",
        ]
