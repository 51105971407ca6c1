"""Syntactic state at each character of Python: depth of brackets, strings, comments."""

import io
import token
import tokenize
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, string

OPENING, CLOSING, QUOTES = "([{", ")]}", "\"'"
# From Python 3.12 on, a string that holds expressions comes in several tokens.
_PIECEWISE = {getattr(token, f"{kind}STRING_START", None) for kind in "FT"} - {None}
_PIECES_END = {getattr(token, f"{kind}STRING_END", None) for kind in "FT"} - {None}


class Marks(NamedTuple):
    """The syntactic state after each of N characters."""

    depth: Tensor  # (N,) long: open brackets, without those in strings and comments
    string: Tensor  # (N,) bool: inside a string, its opening quote included, its last one not
    comment: Tensor  # (N,) bool: from # to the end of the line
    column: Tensor  # (N,) long: characters since the line began; its end counts as 0
    indent: Tensor  # (N,) long: spaces at the beginning of the line, up to this character


@accepts(text=string)
def mark_source(text: str) -> Marks:
    """Mark each of the N characters of a Python text, by Python's own tokenizer.

    Returns:
        five tensors (N,), see `Marks`.

    Raises:
        ValueError: it is empty, or Python cannot tokenize it.
    """
    if not text:
        raise ValueError("text is empty; it must hold at least one character")
    change = torch.zeros(len(text), dtype=torch.long)  # of the depth, at each bracket
    string = torch.zeros(len(text), dtype=torch.bool)
    comment = torch.zeros(len(text), dtype=torch.bool)
    opened: list[int] = []  # where strings in pieces began, the outermost first
    for kind, written, begin, end in _pieces(text):
        if kind == token.OP and written in OPENING + CLOSING and not opened:
            change[begin] = 1 if written in OPENING else -1
        elif kind == token.STRING:
            string[begin + _prefix(written) : end - 1] = True
        elif kind in _PIECEWISE:
            opened.append(begin + _prefix(written))
        elif kind in _PIECES_END:
            string[opened.pop() : end - 1] = True
        elif kind == tokenize.COMMENT:
            comment[begin:end] = True
    return Marks(change.cumsum(0), string, comment, *_places(text))


def _pieces(text: str) -> list[tuple[int, str, int, int]]:
    """The tokens of Python's tokenizer: kind, text, and where each begins and ends."""
    starts = [0]
    for line in io.StringIO(text, newline=""):
        starts.append(starts[-1] + len(line))
    try:
        return [
            (
                piece.type,
                piece.string,
                *(starts[row - 1] + column for row, column in (piece.start, piece.end)),
            )
            for piece in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        ]
    except (tokenize.TokenError, SyntaxError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"text must be Python that can be cut into tokens: {reason}") from error


def _prefix(written: str) -> int:
    """The number of letters before the quote of a string, such as the r of r"…"."""
    return next(place for place, character in enumerate(written) if character in QUOTES)


def _places(text: str) -> tuple[Tensor, Tensor]:
    """Column and indent at each character (N,)."""
    columns, indents = [], []
    column = indent = 0
    for character in text:
        if character == "\n":
            column = indent = 0
        else:
            indent += character == " " and indent == column
            column += 1
        columns.append(column)
        indents.append(indent)
    return torch.tensor(columns), torch.tensor(indents)
