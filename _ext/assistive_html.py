"""What Sphinx writes and a screen reader would misread.

- The head of a column without words is an ordinary cell: it names nothing.
- Entries of a bibliography have a role that ARIA has given up, and their list contains no list
  items; without these roles both are read as the text that they are.
- The line of a folded cell says what is folded, but its label says “Toggle hidden content”, and the
  label is what is read.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

EMPTY_HEAD = re.compile(r"<th\b([^>]*)>\s*(?:<p>\s*</p>)?\s*</th>")
ENTRY_ROLE = re.compile(r'(<div class="citation"[^>]*) role="doc-biblioentry"')
LIST_ROLE = re.compile(r'(<div) role="list"( class="citation-list")')

FOLD_LABEL = re.compile(r'<summary aria-label="Toggle hidden content">')


def tidy(app: Sphinx, _page: str, _template: str, context: dict, _doctree) -> None:
    """Correct the body of a page."""
    body = context.get("body")
    if body:
        body = EMPTY_HEAD.sub(r"<td\1></td>", body)
        body = FOLD_LABEL.sub("<summary>", body)
        body = ENTRY_ROLE.sub(r"\1", body)
        context["body"] = LIST_ROLE.sub(r"\1\2", body)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("html-page-context", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
