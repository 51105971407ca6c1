"""Exercises on the built page: an answer found on paper is typed there and judged there.

In the notebook an exercise is a cell that calls a check, such as `exercises.check_counts(a, b)`.
On the built page, something else takes the place of the cell's output, which asks to run the cell.
If the check judges numbers or a choice it is a form, which holds the check as data
(`gates2heads.grading.paper.described`), judged by `_static/exercises.js` by the same rules. For any
other check it is a line with links to the notebook at this exercise, and a box to tick.

Each chapter ends with a line on its exercises, and the first page has a list of all, in place of
`<div class="g2h-progress-here">`. What is solved is kept in the reader's browser.

With `exercise_answers = False`, as in an edition without solutions, no form is made.
"""

from __future__ import annotations

import html
import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PAGE = re.compile(r"chapters/(\d\d)_\w+")
CALL = re.compile(r"\b\w+\.(check_\w+)\(")
NUMBER = re.compile(r"Exercise (\d+\.\d+)")
PLACE = '<div class="g2h-progress-here"></div>'
FIRST = "chapters/intro"


def checks_of(chapter: str) -> dict[str, Callable]:
    """The checks of a chapter, by the names under which its pages call them.

    Args:
        chapter: its number, such as "08".
    """
    room = importlib.import_module(f"gates2heads.book.ch{chapter}")
    found: dict[str, Callable] = {}
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        for name, one in vars(importlib.import_module(module.name)).items():
            title = getattr(one, "title", None)
            if not name.startswith("check_") or not isinstance(title, str):
                continue
            if found.setdefault(name, one) is not one:
                raise ExtensionError(f"two checks of chapter {chapter} are called {name}")
    return found


def add_forms(app: Sphinx, doctree: nodes.document) -> None:
    """Put a form or a box after each cell that calls a check, and a line at the page's end."""
    page = PAGE.fullmatch(app.env.docname)
    if not page:
        return
    checks, colab = checks_of(page[1]), _colab(app)
    exercises: list[dict] = []
    for cell, code in _cells(doctree):
        check = next((checks[name] for name in CALL.findall(code) if name in checks), None)
        number = NUMBER.match(check.title) if check else None
        if number is None:
            continue
        # The repair of a bug belongs to the exercise that finds it, and has no box of its own.
        first = number[1] not in [one["number"] for one in exercises]
        if first:
            exercises.append({"number": number[1], "href": f"#{_section(cell)}"})
        part = _form(check, number[1]) if app.config.exercise_answers else ""
        if not part:
            address = colab[cell["cell_index"]] if colab else ""
            part = _task(app.env.docname, number[1] if first else "", address)
        for output in [one for one in cell.children if "cell_output" in one["classes"]]:
            cell.remove(output)
        cell.parent.insert(cell.parent.index(cell) + 1, nodes.raw("", part, format="html"))
    app.env.metadata[app.env.docname]["exercises"] = json.dumps(exercises)
    if exercises:
        data = _data({"exercises": exercises, "all": "intro.html#your-progress"})
        line = f'<div class="g2h-page-progress" hidden>{data}</div>'
        next(doctree.findall(nodes.section)).append(nodes.raw("", line, format="html"))


def _cells(doctree: nodes.document) -> Iterator[tuple[nodes.container, str]]:
    """The code cells of a page, each with its code."""
    for cell in list(doctree.findall(nodes.container)):
        if "cell" in cell["classes"]:
            code = next(iter(cell.findall(nodes.literal_block)), None)
            if code is not None:
                yield cell, code.astext()


def _section(node: nodes.Element) -> str:
    """The address on its page of the section that holds a node."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node["ids"][0]


def _data(of: object) -> str:
    """Data in a page; a text cannot end the element that holds it."""
    text = json.dumps(of, ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="application/json">{text}</script>'


def _form(check: Callable, number: str) -> str:
    """The form of an answer found on paper; empty if the check judges code."""
    # The library is imported while the book is built, not when Sphinx reads this file.
    from gates2heads.grading.paper import ChoiceCheck, NumbersCheck, described  # noqa: PLC0415

    if isinstance(check, ChoiceCheck):
        fields = _choice(check, number)
    elif isinstance(check, NumbersCheck):
        fields = "".join(
            f"<label><code>{html.escape(one.name)}</code> "
            '<input type="text" autocomplete="off" autocapitalize="off" spellcheck="false">'
            "</label>"
            for one in check.questions
        )
    else:
        return ""
    return (
        f'<form class="g2h-answer" data-exercise="{number}" aria-label="Answer to exercise '
        f'{number}" novalidate hidden>{fields}<button type="submit">Check</button>'
        f"<output></output>{_data(described(check))}</form>"
    )


def _choice(check: Callable, number: str) -> str:
    several = len(check.right) > 1
    kind = "checkbox" if several else "radio"
    boxes = "".join(
        f'<label><input type="{kind}" name="answer-{number}" value="{html.escape(name)}"> '
        f"<span>{_choice_words(name, words)}</span></label>"
        for name, words in check.choices.items()
    )
    legend = "Your answers" if several else "Your answer"
    return f"<fieldset><legend>{legend}</legend>{boxes}</fieldset>"


def _choice_words(name: str, words: str) -> str:
    """A choice as the page shows it; what is between backticks is code."""
    parts = html.escape(f"{name}: {words}" if words else name).split("`")
    return "".join(
        f'<code class="literal">{part}</code>' if place % 2 else part
        for place, part in enumerate(parts)
    )


def _task(page: str, number: str, colab: str) -> str:
    """Where a reader solves an exercise in code, and a box to tick.

    Args:
        page: such as "chapters/05_attention".
        number: of the exercise; without it there is no box.
        colab: the address of its cell in Colab, or nothing.
    """
    name = page.rpartition("/")[2]
    places = [f'<a href="{html.escape(colab)}">open it in Colab</a>'] if colab else []
    places.append(f'<a href="../_sources/{page}.ipynb" download>download {name}.ipynb</a>')
    asked = f"<span>Write the code in the notebook: {' or '.join(places)}.</span>"
    if not number:
        return f'<div class="g2h-task">{asked}</div>'
    return (
        f'<div class="g2h-task" data-exercise="{number}">{asked} <label hidden>'
        f'<input type="checkbox"> I have solved exercise {number}</label></div>'
    )


def _colab(app: Sphinx) -> list[str]:
    """The address of each cell of a page in Colab; none if the book has no address there."""
    options = app.config.html_theme_options
    address = re.fullmatch(r"https://github\.com/(.+)", options.get("repository_url", ""))
    if not address:
        return []
    notebook = json.loads(Path(app.env.doc2path(app.env.docname)).read_text(encoding="utf-8"))
    branch = quote(options.get("repository_branch") or "main")
    page = (
        f"https://colab.research.google.com/github/{address[1]}/blob/{branch}/"
        f"{app.env.docname}.ipynb"
    )
    return [f"{page}#scrollTo={quote(cell.get('id', ''))}" for cell in notebook["cells"]]


def add_list(app: Sphinx, page: str, _template: str, context: dict, _doctree) -> None:
    """Put the list of all exercises into the first page."""
    if page != FIRST or PLACE not in context.get("body", ""):
        return
    chapters: dict[str, dict] = {}
    for document in sorted(filter(PAGE.fullmatch, app.env.metadata)):
        target = f"{document.rpartition('/')[2]}.html"
        chapter = {"title": app.env.titles[document].astext(), "href": target, "exercises": []}
        # The second page of a chapter comes after the first.
        chapter = chapters.setdefault(PAGE.fullmatch(document)[1], chapter)
        for one in json.loads(app.env.metadata[document].get("exercises", "[]")):
            more = document.endswith("_further")
            chapter["exercises"].append({**one, "href": f"{target}{one['href']}", "more": more})
    data = _data(list(chapters.values()))
    filled = f'<div class="g2h-progress" hidden>{data}</div>'
    context["body"] = context["body"].replace(PLACE, filled)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_config_value("exercise_answers", True, "env", bool)
    app.connect("doctree-read", add_forms)
    app.connect("html-page-context", add_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
