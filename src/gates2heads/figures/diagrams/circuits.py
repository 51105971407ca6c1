"""Diagram of the circuit of an induction head, which continues a repetition."""

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram


def induction_circuit() -> Figure:
    """Draw how a previous-token head and an induction head together predict “B” after “A B … A”.

    Source: Elhage et al. 2021, section "Induction Heads"; Olsson et al. 2022.

    Returns:
        The figure, for `show`.
    """
    d = Diagram(row_gap=0.55)
    columns = ("A", "B", "…", "A again")
    for at, word in enumerate(columns):
        token = word.split()[0]
        d.box(f"token {word}", token, at=(at, 0), colour="amber" if word != "…" else "green")
        stored = "B, and “after A”" if word == "B" else token
        look = {"colour": "blue"} if word == "B" else {"kind": "plain"}
        d.box(f"middle {word}", stored, at=(at, 1), **look)
        d.arrow(f"token {word}", f"middle {word}")
    d.box("end", "A, and “B is next”", at=(3, 2), colour="orange")
    d.box("next", "B", at=(3, 3), kind="plain")
    d.arrow("token A", "middle B", "layer 1: previous token")
    d.arrow("middle A again", "end")
    d.arrow("middle B", "end", "layer 2: finds “after A”, copies B")
    d.arrow("end", "next", "output")
    return d.draw()
