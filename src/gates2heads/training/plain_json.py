"""Untrusted JSON: plain values, no duplicate names, limited nesting."""

import json
from collections import Counter
from typing import Any

from gates2heads.accepts.shown import shown

DEEPEST = 50  # lists and objects inside one another; a card or a recipe has five


def read_json(text: str | bytes, *, what: str) -> Any:
    """Parse JSON; every error has a one-sentence message.

    Args:
        text: from a file or the command line.
        what: its name in the message, such as "card.json must hold a recipe in JSON".

    Raises:
        TypeError: it is not a text.
        ValueError: it is not JSON; an object has a duplicate name, of which Python would silently
            use the last; or lists and objects are nested more than `DEEPEST` deep, which is an
            accident or an attack, and which Python cannot print or copy.
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"{what}, got {shown(text)}")
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError as error:
        raise ValueError(f"{what}, at most {DEEPEST} deep") from error
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [part for one in level for part in _parts(one)]
        if not level:
            return value
    raise ValueError(f"{what}, at most {DEEPEST} deep")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names must be unique."""
    names = Counter(name for name, _ in pairs)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"it holds {shown(twice)} more than once")
    return dict(pairs)


def _parts(value: Any) -> list:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
