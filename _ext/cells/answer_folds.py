"""Results stay folded until the reader has answered the question above them.

Cells with the tag `after-answer` that follow each other become one `<details>` on the built page.
A reader may open it without an answer; the view of the question (`gates2heads.views.Predict`) opens
it after the answer.
"""

from docutils import nodes
from sphinx.application import Sphinx

TAG = "tag_after-answer"
OPENED = '<details class="predict"><summary>The result (after your answer)</summary>'


def fold(app: Sphinx, doctree: nodes.document) -> None:
    """Put each series of tagged cells between the two ends of a fold."""
    for cell in [one for one in doctree.findall(nodes.container) if _tagged(one)]:
        siblings, place = cell.parent, cell.parent.index(cell)
        if not _tagged(cell.next_node(descend=False, siblings=True)):
            siblings.insert(place + 1, nodes.raw("", "</details>", format="html"))
        if place == 0 or not _tagged(siblings[place - 1]):
            siblings.insert(place, nodes.raw("", OPENED, format="html"))


def _tagged(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.container) and TAG in node["classes"]


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
