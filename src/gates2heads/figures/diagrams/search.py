"""Diagrams of a search: the tree of its hypotheses."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from gates2heads.accepts import a, accepts, listed, text
from gates2heads.decoding.trace import Node
from gates2heads.figures.diagrams.diagram import Diagram

COLOURS = {"pruned": "sky", "kept": "blue", "ended": "orange", "cut": "orange"}


@accepts(
    nodes=listed("nodes, as `compare` gives", kind=a(Node), least=1),
    names=listed("names of the tokens", kind=text(empty=False), least=1),
)
def tree_of_a_beam(nodes: Sequence[Node], names: Sequence[str]) -> Figure:
    """Draw a small search tree: every prefix with its probability, one step per column.

    Within a column the prefixes that are kept come first, then the pruned ones, each by
    probability. Dashed arrows lead to pruned prefixes.

    Args:
        nodes: of `gates2heads.watching.searches.compare`, the root first.
        names: the name of each token.

    Returns:
        The figure, for `show`.
    """
    d, prefixes, rows = Diagram(), {0: ""}, {}
    d.box("0", "start", at=(0, 0), shape="1", kind="plain")
    order = sorted(
        range(1, len(nodes)),
        key=lambda at: (nodes[at].length, nodes[at].fate == "pruned", -nodes[at].log_prob),
    )
    for at in order:
        node = nodes[at]
        prefixes[at] = f"{prefixes[node.parent]} {names[node.token]}".strip()
        row = rows[node.length] = rows.get(node.length, -1) + 1
        d.box(
            str(at),
            prefixes[at],
            at=(node.length, row),
            shape=f"{math.exp(node.log_prob):.3f}",
            colour=COLOURS[node.fate],
            kind="plain" if node.fate == "pruned" else "box",
        )
    for at in order:
        d.arrow(str(nodes[at].parent), str(at), dashed=nodes[at].fate == "pruned")
    return d.draw()
