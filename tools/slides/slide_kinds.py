"""What a slide can show beside its sentences: one function for each kind of part.

Each gives the HTML, the part of the page from which the slide takes its title, and captions for the
notes.
"""

from __future__ import annotations

import html
import json
import re

from bs4 import Tag

from tools.slides.slide_parts import VIEW, Page, plain, sentences, unlinked, wrapped

TICKS = re.compile(r"`(.+?)`")


def first_sentence(caption: Tag) -> Tag:
    """Shorten a caption to its number and its first sentence."""
    number, text = caption.strong, caption.em
    first = wrapped(next(sentences(text))) if text else None
    made = wrapped([number])
    if first is not None:
        made.append(" ")
        made.extend(list(first.contents))
    made["class"] = "caption"
    return made


def option_list(options: list[str]) -> str:
    """Write options as a list with letters."""
    return (
        '<ol class="options">'
        + "".join(f"<li><span>{one}</span></li>" for one in options)
        + "</ol>"
    )


def figure(page: Page, section: Tag, wanted: str) -> tuple[str, Tag, list[Tag]]:
    """Show a figure with the first sentence of its caption; the whole caption is for the notes."""
    drawing, caption = page.figure(wanted)
    return f"{unlinked(drawing)}{first_sentence(caption)}", drawing, [caption]


def equation(page: Page, section: Tag, wanted: str) -> tuple[str, Tag, list[Tag]]:
    """Show equations by their numbers."""
    found = [page.equation(number) for number in wanted.split()]
    return "".join(str(unlinked(each)) for each in found), found[0], []


def table(page: Page, section: Tag, wanted: str) -> tuple[str, Tag, list[Tag]]:
    """Show a table; its caption is for the notes."""
    found, caption = page.table(section, wanted)
    return str(unlinked(found)), found, [caption] if caption else []


def listing(page: Page, section: Tag, wanted: str) -> tuple[str, Tag, list[Tag]]:
    """Show code as the page does."""
    code = page.listing(section, wanted)
    return str(unlinked(code)), code, []


def options(page: Page, section: Tag, wanted: str) -> tuple[str, Tag, list[Tag]]:
    """Show the lines "(a) …" of a printed text as a list."""
    printed = page.listing(section, wanted)
    lines = [html.escape(line[4:]) for line in plain(printed).strip().splitlines()]
    return option_list([TICKS.sub(r"<code>\1</code>", line) for line in lines]), printed, []


def view(page: Page, section: Tag, wanted: str) -> tuple[str, None, list[Tag]]:
    """Show a view by its title; the host of the book's pages runs it."""
    model = json.dumps({"model_id": page.view(wanted)})
    return f'<div class="view"><script type="{VIEW}">{model}</script></div>', None, []


def exercises(page: Page, section: Tag, wanted: str) -> tuple[str, None, list[Tag]]:
    """List the exercises of the chapter."""
    items = (f"<li>{unlinked(one).decode_contents()}</li>" for one in page.exercises())
    return f"<ul>{''.join(items)}</ul>", None, []


SHOWN = {
    one.__name__: one for one in (figure, equation, table, listing, options, view, exercises)
}  # fmt: skip
