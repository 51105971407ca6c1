"""Prose from documentation: docstrings without code, tables and markup."""

import inspect
import re
from collections.abc import Iterator

# Blocks below these reStructuredText directives are prose; below all others they are code or data.
PROSE_DIRECTIVES = {"note", "warning", "caution", "tip", "hint", "important", "attention"}
BOOKS = "references"  # a section of titles and years, not of sentences
NAMES = "see also"  # a section of `name : what it does`, kept as `name: what it does`
LEAST_WORDS = 4

DIRECTIVE = re.compile(r"\.\.\s+([\w-]+)::\s*(.*)")
COMMENT = re.compile(r"\.\.(\s|$)")
UNDERLINE = re.compile(r"([-=~^*#+`])\1{2,}\s*$")
TABLE = re.compile(r"[|+]|={3,}|-{3,}|_{3,}")
FIELD = re.compile(r":(param|type|return|rtype|raise|keyword|var|ivar|cvar|arg)\w*[^:]*:\s*")
PARAMETER = re.compile(r"[\w*.]+(,\s*[\w*.]+){0,7}\s+:(\s|$)")  # `axis : int, optional`
BULLET = re.compile(r"([-*+•o]|\(?(\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")
PLACEHOLDER = re.compile(r"%\(\w+\)s|%\(\w+:\w+\)s|\{\w+\}")

ROLE = re.compile(r":[\w+:.-]+:`([^`]*)`")
LINK = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{0,2}")
CITATION = re.compile(r"\[[\w*#]{1,12}\]_")
ADDRESS = re.compile(r"<?\b(?:https?|ftp)://[^\s>]+>?")
REFERENCE = re.compile(r"[~!.]*[A-Za-z_][\w.]*")
LITERAL = re.compile(r"`{1,2}([^`]+)`{1,2}_{0,2}")
OLD_QUOTE = re.compile(r"`{1,2}([^`'\s]+)'{1,2}")  # `name' as in the oldest modules
STRESS = re.compile(r"(?<![\w*])\*{1,2}([^\s*](?:[^*]*[^\s*])?)\*{1,2}(?![\w*])")
SENTENCE_END = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"')]))"  # the mark, and what it closes
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\betc\.)(?<!\.\.\.)"
    r"\s+(?=[\"'(]?[A-Z])"
)


def paragraphs(docstring: str) -> list[str]:
    """Extract the prose of a docstring: one string per paragraph, without line breaks and markup.

    Left out: doctests, code blocks, tables, headings, the `name : type` lines of parameter lists
    (their descriptions stay), lists of references, and texts too short to be a sentence.
    """
    kept, block, depth = [], [], 0
    for line in [*prose_lines(inspect.cleandoc(docstring).splitlines()), ""]:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        bullet = BULLET.match(text)
        if block and (not text or bullet or indent != depth):
            kept.append(without_markup(" ".join(block)))
            block = []
        if bullet:
            text, indent = text[bullet.end() :], indent + bullet.end()
        if text:
            block.append(text)
            depth = indent
    return [paragraph for paragraph in kept if is_prose(paragraph)]


def prose_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines that may belong to a paragraph, with a blank line for each gap."""
    section, skipped_below, doctest = "", None, False
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        doctest = bool(text) and (doctest or text.startswith(">>>"))
        if text and skipped_below is not None and indent <= skipped_below:
            skipped_below = None
        if text and UNDERLINE.match(following.strip()):
            section = text.lower()
            yield ""
        elif not text or doctest or skipped_below is not None or section == BOOKS:
            yield ""
        elif COMMENT.match(text):
            directive = DIRECTIVE.match(text)
            skipped_below = None if directive and directive[1] in PROSE_DIRECTIVES else indent
            yield ""
        elif text.endswith("::"):
            skipped_below = indent
            yield line.rstrip(":") + ":"
        elif section == NAMES and (PARAMETER.match(text) or not indent):
            yield ""  # each entry is a separate paragraph
            yield line.replace(" :", ":", 1) if PARAMETER.match(text) else ""
        elif any(pattern.match(text) for pattern in (TABLE, PARAMETER)) or PLACEHOLDER.search(text):
            yield ""
        else:
            yield from ["", FIELD.sub("", line)] if FIELD.match(text) else [line]


def without_markup(text: str) -> str:
    """Remove reStructuredText markup from a line of prose and keep its content."""
    text = ROLE.sub(lambda role: shown(role[1]), text)
    text = LINK.sub(r"\1", text)
    text = OLD_QUOTE.sub(r"\1", ADDRESS.sub("", CITATION.sub("", text)))
    text = STRESS.sub(r"\1", LITERAL.sub(lambda literal: shown(literal[1]), text))
    return " ".join(text.replace("\\", "").split())


def shown(target: str) -> str:
    """The text shown for a reference: c for `~a.b.c` and for `.c`, the text for `text <target>`."""
    text = target.split("<", maxsplit=1)[0].strip() or target
    if not REFERENCE.fullmatch(text):
        return text
    return text.rsplit(".", 1)[-1] if text.startswith("~") else text.lstrip(".!")


def is_prose(text: str) -> bool:
    """Whether a paragraph looks like a sentence: enough words, and mostly letters."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    letters = sum(character.isalpha() or character == " " for character in text)
    return len(words) >= LEAST_WORDS and letters >= 0.8 * len(text)


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph after each full stop, question or exclamation mark that ends a sentence.

    The next sentence must begin with a capital letter; `e.g.` and similar do not end a sentence.
    """
    return [part for part in SENTENCE_END.split(paragraph) if part]
