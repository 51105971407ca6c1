"""Escaping of words in Markdown, so that none is interpreted as HTML, and none disappears."""

import re
from collections.abc import Iterable

from gates2heads.figures.arguments import seen

# The marks that `predict` knows; views/predict/verdicts.js has the same.
_MARKS = re.compile(r"`([^`]+)`|\*([^*\s](?:[^*]*[^*\s])?)\*")
_CODE = re.compile(r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.S)
_HTML = re.compile(r"<(?=[a-zA-Z/!?])|&(?=#?\w+;)")
_GAP = "\ue000"  # a character that occurs in no text
_LISTED = re.compile(r"^([#>+-]|\d+[.)](?= |$))")  # a heading, a quotation, a list


def as_text(words: str) -> str:
    r"""Escape words in Markdown that shows them literally, in one line.

    Returns:
        such as `\<eos>` for `<eos>`.
    """
    return re.sub(r"([\\`*_$\[\]<&|~])", r"\\\1", seen(words))


def as_marked(words: str) -> str:
    """Escape words in Markdown, except for `code` and *emphasis*.

    Returns:
        one paragraph.
    """
    line, written, end = " ".join(words.split()), [], 0
    for found in _MARKS.finditer(line):
        code, emphasis = found.groups()
        written.append(as_text(line[end : found.start()]))
        written.append(found[0] if code else f"*{as_text(emphasis)}*")
        end = found.end()
    written.append(as_text(line[end:]))
    return _LISTED.sub(lambda mark: f"{mark[1][:-1]}\\{mark[1][-1]}", "".join(written))


def filled(parts: Iterable[tuple[str, bool]]) -> str:
    """Join Markdown with the words in its fields; inside `code`, words need no backslash.

    Args:
        parts: each a text, and whether it is a field.
    """
    listed = list(parts)
    outline = "".join(_GAP if fills else text for text, fills in listed)
    coded = {place for code in _CODE.finditer(outline) for place in range(*code.span())}
    written, place = [], 0
    for text, fills in listed:
        written.append(without_html(text) if fills and place not in coded else text)
        place += 1 if fills else len(text)
    return "".join(written)


def without_html(markdown: str) -> str:
    """Keep code, emphasis, tables and lists; HTML is shown literally.

    Returns:
        the same Markdown, with a backslash before each tag or entity.
    """
    written, end = [], 0
    for found in _CODE.finditer(markdown):
        written += [_HTML.sub(r"\\\g<0>", markdown[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*written, _HTML.sub(r"\\\g<0>", markdown[end:])])
