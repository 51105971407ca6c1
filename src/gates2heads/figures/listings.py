"""Listings of the library's source for a page: without argument checks, within the column.

The listing is the source itself. Statements may be missing, and a line may be broken if it is too
wide; nothing is added, changed or moved.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gates2heads.figures.line_breaks import WIDTH, narrow

_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|al|eq|eqs|cf|vs|etc|fig|sec)|\b[A-Z])\.$", re.I)
_NAMES = ("check_", "_check", "_refuse")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Listing:
    """The displayed code, and what it leaves out of the source."""

    code: str
    checks: int = 0  # lines
    shortened: bool = False  # some docstring


def listing(source: str, *, docstring: bool = False, checks: bool = False) -> Listing:
    """Reduce source to the part that a page shows.

    Args:
        source: Python that can be parsed by itself.
        docstring: keep docstrings whole, broken where they are too wide; otherwise their first
            sentence is kept.
        checks: keep the lines that only check arguments: declarations (`@accepts`), calls of
            `check` and `check_…`, and conditions that end in `raise`.
    Returns:
        The code, with lines of at most 80 characters where Python allows, and what is missing. Its
        statements are statements of the source, in their order.
    Raises:
        SyntaxError: source is not Python.
    """
    left_out, shortened = 0, False
    if not checks:
        source, left_out = _without_checks(source)
    source, shortened = _with_docstrings(source, _folded if docstring else _first_sentence)
    return Listing(narrow(source.strip("\n")), left_out, shortened)


def _without_checks(source: str) -> tuple[str, int]:
    lines = source.split("\n")
    gone = set()
    tree = ast.parse(source)
    for declaration in _declarations(tree):
        gone.update(range(declaration.lineno - 1, declaration.end_lineno))
    for statement in _checks(tree):
        decorators = getattr(statement, "decorator_list", [])
        first = min(one.lineno for one in (statement, *decorators)) - 1
        gone.update(range(first, statement.end_lineno))
        while first and lines[first - 1].lstrip().startswith("#"):  # the comment on the check
            first -= 1
            gone.add(first)
    removed = [line for line in map(lines.__getitem__, gone) if line.strip()]
    return _without(lines, gone), sum(not line.lstrip().startswith("#") for line in removed)


def _without(lines: list[str], gone: set[int]) -> str:
    """Join the remaining lines; of two blank lines around removed ones, one is removed."""
    kept = []
    for number, line in enumerate(lines):
        if number in gone:
            continue
        after_gap = number - 1 in gone and not line.strip()
        if after_gap and (not kept or not kept[-1].strip() or kept[-1].rstrip().endswith(":")):
            continue
        kept.append(line)
    return "\n".join(kept)


def _checks(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that only check arguments; never a whole body."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not isinstance(body, list):
                continue
            methods = isinstance(node, ast.ClassDef)
            found = [one for one in body if _only_checks(one) or (methods and _is_check(one))]
            if len(found) < len(body) - _has_docstring(node):
                alone = [one for one in found if not _shares_a_line(one, body)]
                yield from alone


def _declarations(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the decorators that declare arguments: `@accepts(…)`."""
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", []):
            if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "accepts":
                yield decorator


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None


def _shares_a_line(statement: ast.stmt, body: list[ast.stmt]) -> bool:
    lines = range(statement.lineno, statement.end_lineno + 1)
    return any(one is not statement and one.lineno in lines for one in body)


def _is_check(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name.startswith(_NAMES)


def _only_checks(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        name = getattr(called, "attr", getattr(called, "id", ""))
        return name == "check" or name.startswith(_NAMES)
    if isinstance(statement, ast.If):
        bodies = [statement.body, *([statement.orelse] if statement.orelse else [])]
        return all(_refuses(body) or all(map(_only_checks, body)) for body in bodies)
    if isinstance(statement, ast.For):
        return not statement.orelse and all(map(_only_checks, statement.body))
    return False


def _refuses(body: list[ast.stmt]) -> bool:
    """Whether a body only composes a message and raises an error."""
    *before, last = body
    if not isinstance(last, ast.Raise) or last.exc is None:
        return False
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    name = getattr(raised, "attr", getattr(raised, "id", ""))
    return name.endswith("Error") and all(isinstance(one, ast.Assign) for one in before)


def _with_docstrings(source: str, change: Callable[[list[str]], list[str]]) -> tuple[str, bool]:
    """Change the lines of every docstring; return whether any was shortened."""
    lines, shortened = source.split("\n"), False
    quoted = [node.body[0] for node in ast.walk(ast.parse(source)) if _has_docstring(node)]
    # From the end, so that the numbers of the lines above remain valid.
    for docstring in sorted(quoted, key=lambda one: -one.lineno):
        span = slice(docstring.lineno - 1, docstring.end_lineno)
        short = change(lines[span])
        shortened |= _words(short) != _words(lines[span])
        lines[span] = short
    return "\n".join(lines), shortened


def _words(lines: list[str]) -> str:
    return "".join(" ".join(lines).split())


def _first_sentence(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with only the first sentence of this one.

    One that shares its line with code, or has an unusual form, is unchanged.
    """
    found = re.fullmatch(r"(\s*)([a-zA-Z]?)(\"{3}|'{3})(.*)\3\s*", "\n".join(lines), re.S)
    if not found:
        return lines
    indent, prefix, quotes, text = found.groups()
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    words, sentence = paragraph.split(" "), []
    for word in words:
        sentence.append(word)
        if re.search(r"\S[.!?][)”’]?$", word) and not _ABBREVIATED.search(word):
            break
    return _filled(f"{prefix}{quotes}{' '.join(sentence)}{quotes}", indent)


def _folded(lines: list[str]) -> list[str]:
    """Return a docstring whose lines fit the column."""
    parts = ((line[: len(line) - len(line.lstrip())], line.lstrip()) for line in lines)
    return [part for indent, text in parts for part in _filled(text, indent)]


def _filled(text: str, indent: str) -> list[str]:
    lines = [indent]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= WIDTH and lines[-1].strip():
            lines.append(indent)
        lines[-1] += word if not lines[-1].strip() else f" {word}"
    return lines
