r"""Keep equations that carry their own number, `$$ … \tag{5.3} $$`, as they are written.

Sphinx puts a display of several lines into a `split`, and TeX forbids a tag inside one.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def keep_tags(app: Sphinx, doctree: nodes.document) -> None:
    """Hand tagged displays to MathJax without any wrapping but the brackets."""
    if app.builder.format != "html":
        return
    for block in doctree.findall(nodes.math_block):
        text = block.astext()
        if r"\tag" not in text or block.get("nowrap"):
            continue
        block["nowrap"] = True
        block.children = [nodes.Text(rf"\[{text.strip()}\]")]


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-read", keep_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
