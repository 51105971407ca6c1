"""The library's own source, and numbers from the run, as Markdown on the page.

Markdown is rendered by JupyterLab, Colab, GitHub and the book, so a chapter neither repeats the
library's code nor contains typed numbers.
"""

import inspect
import re
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from string import Formatter
from types import ModuleType

import numpy as np
from IPython.display import display
from torch import Tensor

from gates2heads.accepts import accepts, flag, listed, mapping, string
from gates2heads.accepts.shown import shown
from gates2heads.figures.arguments import form as form_kind
from gates2heads.figures.arguments import named
from gates2heads.figures.listings import Listing, listing
from gates2heads.figures.markdown import as_text, filled


@accepts(docstring=flag, checks=flag)
def show_source(*objects: object, docstring: bool = False, checks: bool = False) -> None:
    """Display the source of classes, functions, methods or modules, each with its file.

    Line numbers are not shown: they would change with every edit above the code. Omissions are
    stated below the code. A line that is wider than the page's column is broken.

    Args:
        objects: one or more, such as `Attention` or `Attention.forward`; a decorated function is
            shown with its source.
        docstring: keep the docstrings whole; otherwise their first sentence.
        checks: keep the lines that only check arguments.
    Raises:
        TypeError: no object, or one without Python source.
    """
    if not objects:
        raise TypeError("show_source needs at least one class, function, method or module")
    _show("\n\n".join(_listing(item, docstring, checks) for item in objects))


@accepts(template=string)
def prose(template: str, **numbers: float | str) -> None:
    """Display a Markdown paragraph whose numbers come from the run.

    Args:
        template: text with fields, such as "reaches {exact:.1%} after {seconds:.0f} s".
        numbers: one value for each field: a number, a tensor of one element, or words. Words may be
            Markdown, such as the rows of a table; HTML in them is shown literally, such as `<eos>`.
    Raises:
        TypeError: a value is neither a number nor a word.
        ValueError: no field, a field without a value, a value without a field, a number that is
            not finite, or a value that its format does not fit.
    """
    try:
        fields = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
    except ValueError as error:
        raise ValueError(
            f"template must be a format string, got {shown(template)}: {error}"
        ) from None
    if not fields:
        raise ValueError(f"template must have at least one {{field}}, got {shown(template)}")
    if fields != set(numbers):
        wanted, given = (
            ", ".join(map(shown, sorted(names))) or "none" for names in (fields, numbers)
        )
        raise ValueError(f"template's fields {wanted} must be the values given, got {given}")
    for _, name, form, _ in Formatter().parse(template):
        form_kind.check(f"template's format of {name}", form or "")
    plain = {name: _scalar(value, name) for name, value in numbers.items()}
    try:
        paragraph = filled(_parts(template, plain))
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"template's formats must fit the values {shown(plain)}: {error}"
        ) from None
    _show(paragraph)


@accepts(
    rows=listed("rows", listed("numbers and words"), least=1), columns=named("headings to formats")
)
def table(rows: Sequence[Sequence[float | str]], columns: Mapping[str, str]) -> None:
    """Display rows as a Markdown table, with right-aligned numbers.

    Args:
        rows: one sequence per row, as long as columns; None leaves a cell empty. Words are shown
            literally, such as `<eos>`, and not as Markdown.
        columns: heading → format such as ".1%"; "" prints the value as it is.
    Raises:
        TypeError: a value is neither a number nor a word.
        ValueError: a row of another length, a number that is not finite, or an invalid format.
    """
    formats = list(columns.values())
    _check_table(rows, formats)
    right = [not any(isinstance(row[place], str) for row in rows) for place in range(len(formats))]
    body = [
        [_cell(value, form, f"rows[{index}]") for value, form in zip(row, formats, strict=True)]
        for index, row in enumerate(rows)
    ]
    rule = ["--:" if flush else ":--" for flush in right]
    heading = [_cell(name, "") for name in columns]
    _show("\n".join("| " + " | ".join(line) + " |" for line in [heading, rule, *body]))


@accepts(rows=mapping("symbols to (meaning, shape)"))
def symbols(rows: Mapping[str, tuple[str, str]]) -> None:
    r"""Display the symbols of a section in a table: the meaning and the shape of each.

    Args:
        rows: symbol in TeX without dollars, such as r"\alpha_{t,s}" → (its meaning, as Markdown;
            its shape in TeX, such as r"T \times S", or "" for a single number).
    Raises:
        TypeError: a row is not a pair of strings.
        ValueError: a symbol or a meaning is empty, or a symbol or a shape has a dollar in it.
    """
    lines = ["| symbol | meaning | shape |", "| :-- | :-- | :-- |"]
    for symbol, row in rows.items():
        _check_symbol(symbol, row)
        meaning, shape = row
        size = f"${_in_a_cell(shape)}$" if shape.strip() else "a number"
        lines.append(f"| ${_in_a_cell(symbol)}$ | {_directed(_in_a_row(meaning))} | {size} |")
    _show("\n".join(lines))


def _in_a_cell(tex: str) -> str:
    """Replace the bars of TeX by commands: a table would interpret them as cell borders."""
    return tex.strip().replace(r"\|", r"\Vert ").replace("|", r"\vert ")


def _check_symbol(symbol: str, row: tuple[str, str]) -> None:
    if not isinstance(row, tuple | list) or len(row) != 2:
        raise TypeError(f"rows[{shown(symbol)}] must be (meaning, shape), got {shown(row)}")
    string(empty=False).check("symbol", symbol)
    string(empty=False).check(f"meaning of {shown(symbol)}", row[0])
    string.check(f"shape of {shown(symbol)}", row[1])
    for name, tex in (("symbol", symbol), ("shape", row[1])):
        if "$" in tex:
            raise ValueError(f"{name} must be TeX without dollars, got {shown(tex)}")


def _check_table(rows: Sequence[Sequence], formats: Sequence[str]) -> None:
    if not formats:
        raise ValueError("columns must hold at least one heading, got none")
    for form in formats:
        form_kind.check("columns", form)
    for index, row in enumerate(rows):
        if len(row) != len(formats):
            raise ValueError(f"rows[{index}] must have {len(formats)} values, got {len(row)}")


def _show(markdown: str) -> None:
    display({"text/markdown": markdown, "text/plain": markdown}, raw=True)


def _listing(item: object, docstring: bool, checks: bool) -> str:
    code = _python_object(item)
    try:
        whole = textwrap.dedent(inspect.getsource(code)).rstrip()
    except (OSError, TypeError):
        raise TypeError(
            f"show_source needs Python source, and {shown(item)} of type "
            f"{type(item).__name__} has none"
        ) from None
    try:
        part = listing(whole, docstring=docstring, checks=checks)
    except SyntaxError:  # a lambda inside a larger expression, for instance
        raise TypeError(
            f"show_source needs Python source that stands by itself, and that of {shown(item)} "
            "does not"
        ) from None
    runs = re.findall(r"^\s*(`{3,})", part.code, re.M)
    fence = max(["```", *(run + "`" for run in runs)], key=len)
    name, place = _place(code)
    below = " · ".join([place, *_left_out(part)])
    return f"**`{name}`**\n\n{fence}python\n{part.code}\n{fence}\n\n<small>{below}</small>"


def _left_out(part: Listing) -> list[str]:
    said = ["docstring shortened"] if part.shortened else []
    if part.checks:
        lines = "1 line" if part.checks == 1 else f"{part.checks} lines"
        said.append(f"{lines} of argument checks omitted")
    return said


def _python_object(item: object) -> object:
    if isinstance(item, property):
        item = item.fget
    item = getattr(item, "func", item) if isinstance(item, cached_property) else item
    if not isinstance(item, ModuleType | type | Callable):
        raise TypeError(
            "show_source needs a class, function, method or module, "
            f"got {shown(item)} of type {type(item).__name__}"
        )
    return inspect.unwrap(item) if callable(item) else item


def _place(code: object) -> tuple[str, str]:
    module = code.__name__ if inspect.ismodule(code) else code.__module__
    if module == "__main__":
        return code.__qualname__, "this notebook"
    name = module if inspect.ismodule(code) else f"{module}.{code.__qualname__}"
    file = inspect.getsourcefile(code).replace("\\", "/")
    package = module.split(".", maxsplit=1)[0]
    file = f"src/{file[file.rindex(f'/{package}') + 1 :]}" if f"/{package}" in file else file
    return name, f"`{file}`"


def _parts(template: str, values: Mapping[str, float | str]) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a template and the values of its fields, with whether they are words."""
    for literal, name, form, conversion in Formatter().parse(template):
        yield literal, False
        if name is not None:
            field = f"{name}!{conversion}" if conversion else name
            words = isinstance(values[name], str)
            yield f"{{{field}:{form}}}".format_map(values), words


def _scalar(value: object, name: str) -> float | int | str:
    if isinstance(value, str):
        return value
    plain = value
    if isinstance(value, Tensor | np.ndarray | np.generic):
        with suppress(RuntimeError, ValueError):  # more than one, or none
            plain = value.item()
    if not isinstance(plain, int | float):
        raise TypeError(f"{name} must be a number or a word, got {type(value).__name__}")
    if not abs(plain) <= sys.float_info.max:
        raise ValueError(f"{name} must be finite, got {shown(plain)}")
    return plain


def _cell(value: object, form: str, name: str = "columns") -> str:
    if value is None:
        return ""
    plain = _scalar(value, name)
    try:
        text = as_text(plain) if isinstance(plain, str) else format(plain, form)
    except ValueError:
        raise ValueError(f"{name} must fit the format {shown(form)}, got {shown(plain)}") from None
    return _directed(text)


def _directed(text: str) -> str:
    """A cell's text; Arabic beside Latin cells keeps its own direction."""
    rightwards = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return f'<bdi dir="rtl">{text}</bdi>' if rightwards else text


def _in_a_row(markdown: str) -> str:
    """Markdown in one line, for a table's row."""
    return " ".join(markdown.split()).replace("|", "\\|")
