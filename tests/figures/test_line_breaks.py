"""A wide line is broken so that the program stays the same."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.figures.line_breaks import narrow

NAMES = st.sampled_from(["weights", "keys", "query_layer", "x", "hidden_size"])


def join(form):
    return lambda parts: form.format(*parts)


EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(join("{} + {}")),
        st.tuples(NAMES, inner, inner).map(join("{}({}, size={})")),
        st.tuples(NAMES, inner).map(join("{}[{}]")),
        st.tuples(inner, NAMES, inner).map(join("[{} for {} in ({})]")),
        st.tuples(inner, inner, inner).map(join("({} if {} else {})")),
        st.tuples(NAMES, NAMES).map(join('f"a, {{{}}} + (b, {{{}:.2f}}"')),
        inner.map("-{}".format),
    ),
    max_leaves=25,
)


@given(EXPRESSIONS, st.sampled_from(["", "  # a comment on it"]), st.integers(30, 80))
def test_the_tree_stays_and_the_comment_too(expression, comment, width):
    source = f"def f(x):\n    if x:\n        y = {expression}{comment}\n    return y"
    broken = narrow(source, width)
    assert ast.dump(ast.parse(broken)) == ast.dump(ast.parse(source))
    assert broken.count("# a comment on it") == source.count("# a comment on it")
    assert max(map(len, broken.split("\n"))) <= max(width, *map(len, source.split("\n")))


@given(EXPRESSIONS)
def test_what_fits_stays_as_it_is(expression):
    source = f"y = {expression}  # a comment"
    assert narrow(source, len(source)) == source


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ("total = first(a, b) + other(c, d)", "total = first(a, b) + other(\n    c, d)"),
        ("f(aaaaaa, bbbbbb, cccccc, dddddd)", "f(aaaaaa, bbbbbb, cccccc,\n  dddddd)"),
        ("f(g(aaaa, bbbb), h(cccc, dddddd))", "f(g(aaaa, bbbb),\n  h(cccc, dddddd))"),
        ("x = aaaa + bbbb + cccc + dddd + eeee", "x = aaaa + bbbb + cccc \\\n    + dddd + eeee"),
        ("x = aaaa + bbbb  # and a long comment", "# and a long comment\nx = aaaa + bbbb"),
        ("# a comment of several words, alone", "# a comment of several\n# words, alone"),
        ("x = 'one string that cannot be broken'",) * 2,
        ("s = '''\na text of several lines, of which one is wide\n'''",) * 2,
    ],
)  # fmt: skip
def test_by_hand(line, broken):
    assert narrow(line, 28) == broken
