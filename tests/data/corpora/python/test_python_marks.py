"""Marks of Python source: by hand, and what must hold of any module."""

import ast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora.python.marks import mark_source
from gates2heads.data.corpora.python.source import python_source


def drawn(values):
    """Bools as a row of signs."""
    return "".join("#" if value else "." for value in values.tolist())


def test_by_hand():
    text = "f(1, 'a)')  # (\n"
    marks = mark_source(text)
    # After the opening bracket one is open, after the closing one none; that in the string and
    # that in the comment do not count.
    assert marks.depth.tolist() == [0, *[1] * 8, *[0] * 7]
    assert drawn(marks.string) == ".....###........"
    assert drawn(marks.comment) == "............###."
    assert marks.column.tolist() == [*range(1, 16), 0]
    assert not marks.indent.any()


def test_indent_and_depth_over_lines_by_hand():
    text = "if a:\n  b = [\n (c)]\n"
    marks = mark_source(text)
    assert marks.indent.tolist() == [*[0] * 6, 1, 2, 2, 2, 2, 2, 2, 0, 1, 1, 1, 1, 1, 0]
    assert marks.depth.tolist() == [*[0] * 12, 1, 1, 1, 2, 2, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("rb'x'\n", "..##.."),
        ('"""a\nb"""\n', "########.."),
        ("'' \"'\"\n", "#..##.."),
        ("f'{a(1)}x'\n", ".########.."),
        ("f'{f\"{a}\"}'\n", ".#########.."),
    ],
)
def test_strings_by_hand(text, string):
    marks = mark_source(text)
    assert drawn(marks.string) == string.ljust(len(text), ".")
    assert not marks.depth.any()  # brackets in a string do not count


@pytest.mark.slow
def test_every_module_ends_with_all_closed_and_its_strings_are_those_of_the_parser():
    for module in python_source("validation"):
        marks = mark_source(module.text)
        assert (marks.depth >= 0).all()
        assert marks.depth[-1] == 0
        assert not marks.string[-1]
        assert not (marks.string & marks.comment).any()
        lines = module.text.split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        for node in ast.walk(ast.parse(module.text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                # Characters are ASCII, so that bytes are characters.
                end = starts[node.end_lineno - 1] + node.end_col_offset
                assert marks.string[end - 2] or module.text[end - 1] not in "\"'"


@given(st.lists(st.sampled_from(["(", "[", "{", "a", " ", "'b'", "\n"]), max_size=12))
def test_what_is_opened_and_closed_again_counts_its_brackets(pieces):
    pairs = {"(": ")", "[": "]", "{": "}"}
    closing = [pairs[piece] for piece in reversed(pieces) if piece in pairs]
    text = "(" + "".join(pieces) + "".join(closing) + ")\n"
    marks = mark_source(text)
    assert marks.depth[-1] == 0
    assert int(marks.depth.max()) == 1 + len(closing)
    assert int(marks.string.sum()) == 2 * pieces.count("'b'")  # the last quote is not inside
    assert marks.column.shape == (len(text),)
    assert marks.column.dtype == torch.long


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text is empty"),
        ("x = (\n", "text must"),
        ("  a\n b\n", "text must"),
    ],
)
def test_a_mistake_gets_one_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        mark_source(text)
