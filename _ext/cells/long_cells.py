"""Cells of tables that hold a text wrap; numbers, names and dates keep their line.

A cell with more than `LONG` characters gets a class; `_static/book.css` lets it wrap and keeps it
wide enough to be read.
"""

from docutils import nodes
from sphinx.application import Sphinx

LONG = 40


def mark(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give each long cell of a page its class."""
    for entry in doctree.findall(nodes.entry):
        if len(entry.astext()) > LONG:
            entry["classes"].append("g2h-long")


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
