"""Imports stand right before the first open code; results are folded; long cells are marked."""

import sys
from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "_ext" / "cells"))
import answer_folds
import import_cells
import long_cells


def page(*cells):
    document = new_document("page")
    section = nodes.section()
    for number, tags in enumerate(cells):
        classes = ["cell", *(f"tag_{tag}" for tag in tags.split())]
        section += [nodes.paragraph(text=f"text {number}"), nodes.container(classes=classes)]
    document += section
    return document, section


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["imports setup", "tell", ""], ["tell", "imports setup", ""]),
        (["imports setup", ""], ["imports setup", ""]),
        (["imports setup", "draw"], ["imports setup", "draw"]),  # nothing stands open
        (["", "tell"], ["", "tell"]),
    ],
)
def test_imports_move_to_the_first_open_cell(cells, order):
    document, section = page(*cells)
    import_cells.move(None, document)
    found = [one["classes"][1:] for one in section if isinstance(one, nodes.container)]
    assert [" ".join(one).replace("tag_", "") for one in found] == order
    if "" in cells and cells[0].startswith("imports"):  # right before it, text in between or not
        places = [section.index(one) for one in section if isinstance(one, nodes.container)]
        at = [" ".join(one).replace("tag_", "") for one in found].index("")
        assert places[at] - places[at - 1] == 1


def in_order(section):
    return [one.astext().split()[0] if one.astext() else "cell" for one in section]


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["tell", "after-answer"], "cell <details cell </details>"),
        (["after-answer", "tell"], "<details cell </details> cell"),
        (
            ["tell", "tell after-answer", "after-answer", ""],
            "cell <details cell cell </details> cell",
        ),
        (
            ["after-answer", "", "after-answer"],
            "<details cell </details> cell <details cell </details>",
        ),
        (["tell", ""], "cell cell"),
    ],
)
def test_results_that_follow_each_other_share_one_fold(cells, order):
    document, section = page(*cells)
    for text in list(section.findall(nodes.paragraph)):
        section.remove(text)
    answer_folds.fold(None, document)
    assert in_order(section) == order.split()


def test_a_text_ends_the_fold():
    document, section = page("after-answer", "after-answer")
    answer_folds.fold(None, document)
    assert in_order(section) == 2 * ["text", "<details", "cell", "</details>"]


def test_a_long_text_in_a_cell_wraps():
    document = new_document("page")
    for text in ("9 January 1974", "x" * long_cells.LONG, "x" * (long_cells.LONG + 1)):
        document += nodes.entry("", nodes.paragraph(text=text))
    long_cells.mark(None, document, "page")
    assert [one["classes"] for one in document.findall(nodes.entry)] == [[], [], ["g2h-long"]]
