"""Figures are counted in the order of the page, and their mentions with them."""

import nbformat
import pytest

from tools import execute_notebooks
from tools.notebooks.figure_numbers import faults, renumber, shown_figures


def book(*sources):
    cells = [
        nbformat.v4.new_code_cell(source[1:]) if source[0] == ">" else
        nbformat.v4.new_markdown_cell(source)
        for source in sources
    ]  # fmt: skip
    return nbformat.v4.new_notebook(cells=cells)


def show(number, before=""):
    return f'>{before}show(draw("é", 1), number="{number}",\n     alt="a", caption="c")'


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def test_a_new_figure_moves_those_behind_it_and_the_text_follows():
    notebook = book(
        "See Figure 5.2, Figure 5.new and Figure 6.1. Not figure 5.2.",
        show("5.1"),
        show("5.new", before="%matplotlib inline\n"),
        show("5.2", before='print("Figure 5.2")\n'),
    )
    renumber(notebook)
    assert [figure.number for figure in shown_figures(notebook)] == ["5.1", "5.2", "5.3"]
    text, _, second, third = sources(notebook)
    assert text == "See Figure 5.3, Figure 5.2 and Figure 6.1. Not figure 5.2."
    assert second == show("5.2", before="%matplotlib inline\n")[1:]
    assert third == show("5.3", before='print("Figure 5.3")\n')[1:]


def test_numbers_in_order_change_nothing():
    notebook = book(show("5.1"), "Figure 5.1 and Figure 5.2.", show("5.2"))
    before = sources(notebook)
    renumber(notebook)
    assert sources(notebook) == before
    assert faults(notebook, "5", {"5.1", "5.2"}) == []


def test_two_figures_of_one_cell_are_two():
    notebook = book(">show(a, number='5.9')\nshow(b, number='5.8'); x.show(c)")
    renumber(notebook)
    assert sources(notebook) == ['show(a, number="5.1")\nshow(b, number="5.2"); x.show(c)']


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (["5.1", "5.1"], "page has two figures 5.1; call the new one 5.1b"),
        (["51"], "page has a figure '51'; it should be such as 5.3"),
    ],
)
def test_what_cannot_be_counted_is_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        renumber(book(*map(show, numbers)), "page")


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([">show(a, alt='')"], 'cell 0 shows a figure without a number, such as "5.3"'),
        ([show("5.2"), show("5.1")], "its figures are in the order 5.2, 5.1: run make execute"),
        ([show("4.1")], "its figures should be numbered 5.1 and so on, not 4.1"),
        (["In Figure 5.7."], "cell 0 mentions Figure 5.7, which there is not"),
    ],
)
def test_faults_are_named(cells, fault):
    assert faults(book(*cells), "5", {"5.1", "5.2", "4.1"}) == [fault]


def test_a_page_that_goes_further_has_numbers_of_its_own():
    assert faults(book("Figure 5.2", show("5F.1")), "5", {"5.2", "5F.1"}) == []


def test_execution_refuses_two_figures_of_one_number_before_it_runs(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    nbformat.write(book(show("5.1"), show("5.1")), path)
    before = path.read_bytes()
    assert execute_notebooks.main([str(path)]) == 1
    assert "a.ipynb has two figures 5.1" in capsys.readouterr().err
    assert path.read_bytes() == before
