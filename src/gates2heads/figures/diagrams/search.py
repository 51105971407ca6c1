"""Diagrams of a search: the tree of its hypotheses."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from gates2heads.accepts import accepts, instance, listed, string
from gates2heads.decoding.trace import Node
from gates2heads.figures.diagrams.diagram import Diagram

ROW_GAP = 0.14  # inches between two rows
COLOURS = {"pruned": "sky", "kept": "blue", "ended": "orange", "cut": "orange"}


@accepts(
    nodes=listed("nodes, as `compare` gives", kind=instance(Node), least=1),
    names=listed("names of the tokens", kind=string(empty=False), least=1),
)
def tree_of_a_beam(nodes: Sequence[Node], names: Sequence[str]) -> Figure:
    """Draw a small search tree: every prefix with its probability, one step per column.

    Of the continuations of a prefix, those that are kept come first, then the pruned ones, each by
    probability. The first is beside its prefix and the others are below it, so that no two arrows
    share a line unless they leave the same prefix. Dashed arrows lead to pruned prefixes.

    Args:
        nodes: of `gates2heads.watching.searches.compare`, the root first.
        names: the name of each token.

    Returns:
        The figure, for `show`.
    """
    d, below = Diagram(row_gap=ROW_GAP), _continuations(nodes)
    d.box("0", "start", at=(0, 0), shape="1", kind="plain")
    free = 0  # the first free row

    def place(parent: int, prefix: str) -> None:
        nonlocal free
        for rank, at in enumerate(below[parent]):
            node = nodes[at]
            free += rank > 0
            longer = f"{prefix} {names[node.token]}".strip()
            d.box(
                str(at),
                longer,
                at=(node.length, free),
                shape=f"{math.exp(node.log_prob):.3f}",
                colour=COLOURS[node.fate],
                kind="plain" if node.fate == "pruned" else "box",
            )
            place(at, longer)

    place(0, "")
    # An arrow to a kept prefix covers the dashed one beneath it.
    for dashed in (True, False):
        for at in range(1, len(nodes)):
            if (nodes[at].fate == "pruned") == dashed:
                d.arrow(str(nodes[at].parent), str(at), dashed=dashed)
    return d.draw()


def _continuations(nodes: Sequence[Node]) -> list[list[int]]:
    """Find the continuations of every node: the kept ones first, each by probability."""
    order = sorted(
        range(1, len(nodes)), key=lambda at: (nodes[at].fate == "pruned", -nodes[at].log_prob)
    )
    below: list[list[int]] = [[] for _ in nodes]
    for at in order:
        below[nodes[at].parent].append(at)
    return below
