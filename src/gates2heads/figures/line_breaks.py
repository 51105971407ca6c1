"""Break lines of Python that are wider than a page's column, without changing the program."""

import io
import math
import token
import tokenize
from itertools import pairwise
from typing import NamedTuple

WIDTH = 80
# A line may be broken in front of these.
_OPERATORS = {"+", "-", "*", "/", "//", "%", "@", "**", "|", "&", "^", "<<", ">>", "==", "!="}
_OPERATORS |= {"<", ">", "<=", ">="}
_WORDS = {"and", "or", "if", "else", "for", "in", "is", "not", "import", "from", "as"}
_OPENING, _CLOSING = set("([{"), set(")]}")
_FSTRING = [
    getattr(token, f"{kind}STRING_{end}", None) for kind in "FT" for end in ("START", "END")
]


def narrow(source: str, width: int = WIDTH) -> str:
    """Break the lines of a program that are wider than a column.

    A comment after a line that is too wide is moved above it; then the line is broken inside its
    outermost brackets if possible, or with a backslash if there are none. Strings are never broken,
    nor words.

    Args:
        source: Python that can be parsed by itself.
        width: the maximum number of characters.
    Returns:
        The same program: `ast.parse` gives the same tree.
    """
    lines, number = source.split("\n"), 0
    while number < len(lines):
        parts = [lines[number]]
        if len(lines[number]) > width:
            parts = _broken(lines, number, width)
        lines[number : number + 1] = parts
        # A broken line may still be too wide; a line that cannot be broken is left unchanged.
        number += parts[0] == lines[number] and (len(parts) == 1 or len(parts[0]) <= width)
    return "\n".join(lines)


def _broken(lines: list[str], number: int, width: int) -> list[str]:
    """Return the lines that replace one that is too wide: itself, if it cannot be broken."""
    line = lines[number]
    indent = line[: len(line) - len(line.lstrip())]
    tokens, base = _tokens("\n".join(lines), number + 1)
    if not tokens:  # inside a string
        return [line]
    comment = tokens[-1][0] if tokens[-1][0].type == token.COMMENT else None
    if comment and comment.start[1] > len(indent):
        return [indent + comment.string, line[: comment.start[1]].rstrip()]
    if comment:
        words = line.split(" ")
        cut = max((n for n in range(len(words)) if len(" ".join(words[:n])) <= width), default=0)
        first = " ".join(words[:cut])
        return [first, f"{indent}# {' '.join(words[cut:])}"] if first.strip(" #") else [line]
    places = _places(tokens, len(indent), base, width)
    fitting = [place for place in places if place.cut + len(place.tail) <= width]
    if not fitting:
        return [line]
    cuts = [*sorted({place.cut for place in places}), len(line)]
    until = dict(pairwise(cuts))

    def too_wide(place: _Place) -> bool:
        """Whether the rest up to the next possible break does not fit."""
        return place.further + len(line[place.cut : until[place.cut]].rstrip()) > width

    best = min(fitting, key=lambda place: (too_wide(place), place.rank, -place.cut))
    rest = " " * best.further + line[best.cut :].lstrip()
    if len(rest) >= len(line):
        return [line]
    return [line[: best.cut].rstrip() + best.tail, rest]


class _Place(NamedTuple):
    """Where a line may be broken; the lowest rank is best."""

    rank: float
    cut: int  # column
    further: int  # indentation of the rest, in columns
    tail: str = ""


def _tokens(source: str, row: int) -> tuple[list[tuple[tokenize.TokenInfo, list[int]]], int]:
    """List the tokens of a row, each with the positions of its opening brackets.

    A bracket of an earlier row counts as opened at −1. Brackets inside f-strings are ignored.
    The second result is the column at which the statement begins.
    """
    found, brackets, strings, base, fresh = [], [], 0, 0, True
    for one in tokenize.generate_tokens(io.StringIO(source).readline):
        strings -= one.type is not None and one.type in _FSTRING[1::2]
        inside = strings > 0
        strings += one.type is not None and one.type in _FSTRING[0::2]
        if one.start[0] > row:
            break
        if fresh and one.string.strip():
            base, fresh = one.start[1], False
        fresh |= one.type == token.NEWLINE
        bracket = one.string if one.type == token.OP and not inside else ""
        if bracket in _CLOSING:
            brackets.pop()
        if one.start[0] == row == one.end[0] and one.string.strip() and not inside:
            found.append((one, [at if place == row else -1 for place, at in brackets]))
        if bracket in _OPENING:
            brackets.append(one.start)
    return found, base


def _places(tokens: list, indent: int, base: int, width: int) -> list[_Place]:
    places, hanging = [], base + (8 if tokens[-1][0].string == ":" else 4)
    ends = {opened: one.end[1] for one, brackets in tokens for opened in brackets}
    for (before, _), (one, brackets) in pairwise(tokens):
        if one.type == token.COMMENT or one.string in _CLOSING:
            continue
        mark = before.string if before.type == token.OP else ""
        operator = one.string in (_OPERATORS if one.type == token.OP else _WORDS)
        between = operator and (not mark or mark in _CLOSING)
        column, depth = one.start[1], len(brackets)
        depth += 10 * any(ends[opened] < width for opened in brackets)  # it fits unchanged
        if not brackets:
            if between or mark == "=":
                places.append(_Place(math.inf, column, indent + 4, " \\"))
        elif mark in _OPENING:
            places.append(_Place(depth + 0.5, column, max(hanging, indent + 4)))
        elif between or mark == "," or before.type == one.type == token.STRING:
            rank = depth + 0.3 * between  # rather after a comma
            aligned = brackets[-1] + 1 if brackets[-1] >= 0 else indent
            if aligned <= width // 2:  # further in, too little fits
                places.append(_Place(rank, column, aligned))
            places.append(_Place(rank + 0.6, column, hanging))
    return places
