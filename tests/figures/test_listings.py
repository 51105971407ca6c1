"""Listings: a part of the source, in its order, no wider than the column."""

import ast
import textwrap
from pathlib import Path

import pytest

import gates2heads
from gates2heads.figures.listings import listing

LIBRARY = sorted(Path(gates2heads.__file__).parent.rglob("*.py"))


def dedented(text):
    return textwrap.dedent(text).strip("\n")


def statements(source):
    """The lines of a program in one spelling, without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[0].value.value = "docstring"
    return ast.unparse(tree).split("\n")


def docstrings(source):
    nodes = ast.walk(ast.parse(source))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    found = (ast.get_docstring(node) for node in nodes if isinstance(node, kinds))
    return [" ".join(text.split()) for text in found if text]


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_of_every_module_a_listing_is_a_part_in_the_same_order(path):
    source = path.read_text(encoding="utf-8")
    shown = listing(source)
    left = iter(statements(source))
    assert all(line in left for line in statements(shown.code))
    whole = docstrings(listing(source, checks=True).code)
    for short, full in zip(whole, docstrings(source), strict=True):
        assert full.startswith(short)
    for line in shown.code.split("\n"):
        # A string is never broken.
        assert len(line) <= 80 or line.count('"') + line.count("'") >= 2, line


@pytest.mark.parametrize("path", LIBRARY[::7], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_with_everything_asked_for_nothing_is_missing(path):
    source = path.read_text(encoding="utf-8")
    shown = listing(source, docstring=True, checks=True)
    assert (shown.checks, shown.shortened) == (0, False)
    assert statements(shown.code) == statements(source)
    assert docstrings(shown.code) == docstrings(source)


def test_checks_go_and_what_explains_them():
    shown = listing(
        dedented(
            """
            def attend(scores, mask, kinds):
                check_mask(mask, scores.shape)
                values.check_count("scores", len(scores))
                # A tensor of bytes would be taken for numbers.
                if mask.dtype != bool:
                    kind = mask.dtype
                    raise TypeError(f"mask must be bool, got {kind}")
                elif mask.dim() != 2:
                    raise ValueError("mask must have two axes")

                for kind in kinds:
                    check_choice("kind", kind)
                if mask is not None:
                    check_mask(mask)
                # The heart of it.
                return scores.softmax(-1)
            """
        )
    )
    assert shown.code == dedented(
        """
        def attend(scores, mask, kinds):
            # The heart of it.
            return scores.softmax(-1)
        """
    )
    assert shown.checks == 11


def test_what_does_something_stays():
    source = dedented(
        """
        def go(state):
            if state.done:
                raise StopIteration
            if state.old:
                state.close()
                raise ValueError(state)
            try:
                step(state)
            except KeyError as error:
                raise ValueError("no such step") from error
            if state.new:
                raise ValueError("new")
            else:
                state.rest()
            x = 1; check_count("x", x)
            return checked(state)
        """
    )
    assert statements(listing(source).code) == statements(source)


def test_a_function_that_only_checks_is_shown_whole_and_a_method_that_checks_goes():
    check = dedented(
        """
        def check_size(size):
            if size < 1:
                raise ValueError("size must be positive")
        """
    )
    assert listing(check).code == check
    shown = listing(
        dedented(
            """
            class Layer:
                size = 3

                def forward(self, x):
                    self._refuse(x)
                    return x

                def _refuse(self, x):
                    if x is None:
                        raise ValueError("x must be there")
            """
        )
    )
    assert shown.code == dedented(
        """
        class Layer:
            size = 3

            def forward(self, x):
                return x
        """
    )
    assert shown.checks == 4


@pytest.mark.parametrize(
    ("docstring", "sentence"),
    [
        ('"""One. Two."""', '"""One."""'),
        ('"""As in Xu et al. 2015, eq. 12, e.g. this. More."""',
         '"""As in Xu et al. 2015, eq. 12, e.g. this."""'),
        ('"""No full stop\n\n    Args: x."""', '"""No full stop"""'),
        ('r"""A \\\\sigma. B."""', 'r"""A \\\\sigma."""'),
        ("'''Is it? Yes.'''", "'''Is it?'''"),
        ('"""Answer "why?": because. More."""', '"""Answer "why?": because."""'),
    ],
)  # fmt: skip
def test_first_sentences(docstring, sentence):
    shown = listing(f"def f():\n    {docstring}\n    return 1")
    assert shown.code == f"def f():\n    {sentence}\n    return 1"
    assert shown.shortened


def test_a_whole_docstring_is_folded_into_the_column():
    words = "word " * 30
    source = f'def f():\n    """One.\n\n    {words}\n    """\n    return 1'
    shown = listing(source, docstring=True)
    assert max(map(len, shown.code.split("\n"))) <= 80
    assert docstrings(shown.code) == docstrings(source)


def test_what_is_no_python_is_refused():
    with pytest.raises(SyntaxError):
        listing("def f(:")
