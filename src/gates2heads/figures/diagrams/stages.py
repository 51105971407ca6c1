"""Diagrams of one computation in several stages, each with its numbers."""

import math

from matplotlib.figure import Figure

from gates2heads.accepts import accepts, number
from gates2heads.figures.diagrams.diagram import Diagram

NUMBER = number(least=-99, most=99)


@accepts(gate_i=NUMBER, gate_f=NUMBER, candidate=NUMBER, gate_o=NUMBER, cell=NUMBER)
def lstm_steps(
    gate_i: float, gate_f: float, candidate: float, gate_o: float, cell: float
) -> list[Figure]:
    """Draw the four stages of one step of an LSTM with one unit, each with its numbers.

    What a stage computes is coloured; what is not known yet has a question mark.

    Args:
        gate_i: the pre-activation of the input gate.
        gate_f: that of the forget gate.
        candidate: that of the candidate.
        gate_o: that of the output gate.
        cell: the old cell state.

    Returns:
        Four figures, for `FrameViewer`: the gates and the candidate, what is kept of the old cell
        state, the new cell state, and the new hidden state.
    """
    inside = dict(zip("fico", map(_short, (gate_f, gate_i, candidate, gate_o)), strict=True))
    gate_i, gate_f, gate_o = (1 / (1 + math.exp(-one)) for one in (gate_i, gate_f, gate_o))
    candidate = math.tanh(candidate)
    kept, added = gate_f * cell, gate_i * candidate
    new = kept + added
    f, i, o, tried, c, c_new = map(_short, (gate_f, gate_i, gate_o, candidate, cell, new))
    shown_h = _short(gate_o * math.tanh(new))
    # Each box: the stage that computes it, its name, the formula, then numbers and result.
    told = {
        "forget": (1, "forget gate f", "", f"σ({inside['f']})", f"= {f}"),
        "input": (1, "input gate i", "", f"σ({inside['i']})", f"= {i}"),
        "candidate": (1, "candidate", "", f"tanh({inside['c']})", f"= {tried}"),
        "output": (1, "output gate o", "", f"σ({inside['o']})", f"= {o}"),
        "keep": (2, "kept", "f × old c", f"{f} × {c}", f"= {_short(kept)}"),
        "written": (3, "added", "i × candidate", f"{i} × {tried}", f"= {_short(added)}"),
        "new": (3, "new c", "kept + added", f"{_short(kept)} + {_short(added)}", f"= {c_new}"),
        "hidden": (4, "new h", "o × tanh c", f"{o} × tanh({c_new})", f"= {shown_h}"),
    }
    at = {"keep": (0, 1), "new": (1, 1), "written": (1, 2), "hidden": (3, 2)}
    at |= {"forget": (0, 3), "input": (1, 3), "candidate": (2, 3), "output": (3, 3)}
    colours = {"candidate": "orange", "new": "orange", "hidden": "orange"}
    colours |= {"keep": "green", "written": "green"}
    figures = []
    for stage in (1, 2, 3, 4):
        d = Diagram(row_gap=0.3)
        d.box("old", f"old c = {c}", at=(0, 0), kind="plain")
        for name, (first, words, formula, numbers, result) in told.items():
            how = f"{numbers}\n{result}" if first <= stage else f"{formula}\n?"
            kind = "box" if first == stage else "plain"
            d.box(name, f"{words}\n{how}", at=at[name], kind=kind, colour=colours.get(name, "blue"))
        d.arrow("old", "keep")
        d.arrow("keep", "new")
        d.arrow("forget", "keep")
        d.arrow("input", "written")
        d.arrow("candidate", "written", route="down then across")
        d.arrow("written", "new")
        d.arrow("new", "hidden", route="across then down")
        d.arrow("output", "hidden")
        figures.append(d.draw())
    return figures


def _short(value: float) -> str:
    """Write a number with three significant digits."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
