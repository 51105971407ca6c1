"""How a sentence shows a value: one short line, whatever the value is."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import gates2heads
from gates2heads.accepts.shown import MOST, choices, in_line, shown

PACKAGE = Path(gates2heads.__file__).parent


class Sulky:
    """A class whose own `repr` fails."""

    def __repr__(self):
        raise RuntimeError("no")


class Verbose:
    """A class whose `repr` fills lines."""

    def __repr__(self):
        return "one\n  two\x00\udc80"


HOLDS_ITSELF = []
HOLDS_ITSELF += [HOLDS_ITSELF] * 30


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (3, "3"),
        (-0.5, "-0.5"),
        (None, "None"),
        (10**5000, "a whole number of 16610 bits"),
        ([10**5000], "[a whole number of 16610 bits]"),
        ("one\ntwo", r"'one\ntwo'"),
        ("a\u2028b\ud83d", r"'a\u2028b\ud83d'"),
        (b"a\n", r"b'a\n'"),
        ("x" * 99, "'" + "x" * (MOST - 2) + "…"),
        ([1, "a", None], "[1, 'a', None]"),
        ({"b": 1, "a": [2]}, "{'b': 1, 'a': [2]}"),
        (torch.zeros(2, 3), "a torch.float32 tensor of shape (2, 3)"),
        (torch.tensor(3, device="meta"), "a torch.int64 tensor of shape ()"),
        ([torch.zeros(2).to_sparse()], "[a torch.float32 tensor of shape (2,)]"),
        (torch.nn.Parameter(torch.ones(2)), "a torch.float32 tensor of shape (2,)"),
        (np.zeros((2, 3)), "a numpy float64 array of shape (2, 3)"),
        ((np.array(["a\nb"]),), "(a numpy <U3 array of shape (1,),)"),
        (Sulky(), "<Sulky>"),
        ([Sulky()], "[<Sulky>]"),
        (Verbose(), r"one two\x00\udc80"),
    ],
    ids=lambda given: "",  # pytest cannot write the hugest number either
)
def test_each_kind_of_value_by_hand(value, line):
    assert shown(value) == line


def test_names_to_choose_from_are_all_or_those_like_the_wanted_one():
    assert choices(["a", "b"], "c") == "a, b"
    assert choices([], "c") == "there is none yet"
    many = [f"recipe-{number}" for number in range(30)] + ["translator"]
    told = choices(many, "tranlsator")
    assert told.startswith("translator, ")
    assert told.endswith(" and 28 others")


def test_a_path_is_whole_and_in_one_line():
    assert in_line(Path("a" * 99, "b\nc d\u2028\udc80é")) == "a" * 99 + "/b\\nc d\\u2028\\udc80é"


def test_what_holds_itself_or_is_long_is_shown_at_once():
    assert shown(HOLDS_ITSELF).startswith("[[[")
    assert shown(list(range(10**6))).startswith("[0, 1, 2, ")


VALUES = st.recursive(
    st.none() | st.text() | st.binary() | st.integers() | st.floats() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(VALUES)
@example("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\r")
@example(HOLDS_ITSELF)
def test_any_value_is_one_short_line(value):
    line = shown(value)
    assert 1 <= len(line) <= MOST
    assert len(line.splitlines()) == 1
    assert line.isprintable()


def test_a_short_value_of_plain_parts_is_its_repr():
    for value in ({"a": (1, 2.5)}, [True, None], {3}, frozenset({"b"}), "it's", b"\xff", 1j, int):
        assert shown(value) == repr(value)


def test_no_sentence_shows_a_value_in_another_way():
    """What `!r` shows may be many lines; only a `repr` and the exercises' own words use it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not re.search(r"\{[^{}]+!r", line) or "Tokenizer({" in line, (path, line)
