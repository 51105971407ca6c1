"""Spans: from character positions in a text to token positions."""

from collections.abc import Sequence
from operator import index

from gates2heads.accepts import listed
from gates2heads.accepts.shown import shown

Span = tuple[int, int]  # text[start:end], or tokens[start:end]


def token_spans(spans: Sequence[Span], offsets: Sequence[Span]) -> list[Span]:
    """Turn spans of characters into spans of tokens.

    A token belongs to a span if they share a character, so a word is never split.

    Args:
        spans: (start, end) each, text[start:end].
        offsets: the span of each token in the text, in reading order.

    Returns:
        (start, end) each: the span is tokens[start:end].

    Raises:
        TypeError, ValueError: a span is not a pair of positions, is empty, or contains no token.
    """
    check_spans("spans", spans)
    found = []
    for start, end in spans:
        inside = [
            number for number, (left, right) in enumerate(offsets) if left < end and start < right
        ]
        if not inside:
            raise ValueError(f"spans holds ({start}, {end}), where no token stands")
        found.append((inside[0], inside[-1] + 1))
    return found


def check_spans(name: str, spans: Sequence[Span]) -> None:
    """Reject anything but a list of (start, end) with 0 ≤ start < end.

    Raises:
        TypeError, ValueError: with a message that names the argument and the span.
    """
    listed("(start, end)").check(name, spans)
    for span in spans:
        try:
            start, end = map(index, span)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must hold pairs (start, end), got {shown(span)}") from None
        if not 0 <= start < end:
            raise ValueError(f"{name} must have 0 ≤ start < end, got ({start}, {end})")
