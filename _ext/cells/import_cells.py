"""Where a reader meets what a page imports: folded, right before its first open code.

In the notebook the imports come first, since everything needs them. On the built page they would
stand between the question and the view that answers it.
"""

from docutils import nodes
from sphinx.application import Sphinx

TAG = "tag_imports"
FOLDED = {"tag_setup", "tag_draw", "tag_tell"}


def move(app: Sphinx, doctree: nodes.document) -> None:
    """Put the cell of imports before the first code cell that is shown open."""
    cells = [one for one in doctree.findall(nodes.container) if "cell" in one["classes"]]
    imports = [one for one in cells if TAG in one["classes"]]
    first = next((one for one in cells if not FOLDED & set(one["classes"])), None)
    if first is None:
        return
    for cell in imports:
        cell.parent.remove(cell)
        first.parent.insert(first.parent.index(first), cell)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-read", move)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
