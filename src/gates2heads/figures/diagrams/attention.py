"""Diagrams of attention and of the Transformer."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from gates2heads.accepts import accepts, instance, listed, string
from gates2heads.accepts.shown import shown
from gates2heads.figures.diagrams.diagram import Diagram
from gates2heads.figures.diagrams.layout import Point, Rect
from gates2heads.figures.diagrams.parts import NAME, SMALL, Box, draw_box, sheet, write
from gates2heads.figures.theme import COLOURS, styled


def attention_encoder_decoder() -> Figure:
    """Draw one step of the encoder–decoder with attention, `models.translation.EncoderDecoder`.

    The encoder reads the source once. The state before the step is the query, the weighted average
    of the encoder's states is the context, and the cell computes the next state. The first state is
    computed from the encoder's last states.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("embedding", "embedding", at=(0, 1), shape="source (B, S, E)")
    d.box("encoder", "bidirectional GRU", at=(0, 2), shape="states hᵢ (B, S, U)")
    d.box("initial", "linear layer, tanh", at=(0, 4), shape="first state s₀ (B, U)")
    d.box("sum", "weighted sum", at=(1, 1), shape="context cₜ (B, U)", colour="green")
    d.box("softmax", "softmax over S", at=(1, 2), shape="weights (B, S)", colour="green")
    d.box("score", "score", at=(1, 3), shape="(B, S)", colour="green")
    d.box("readout", "output layer", at=(2, 0), shape="logits (B, V)", colour="orange")
    d.box("cell", "GRU cell", at=(2, 1), shape="state sₜ (B, U)", colour="orange")
    d.box("state", "previous state", at=(2, 3), shape="sₜ₋₁ (B, U)", colour="orange")
    d.box("token", "embedding", at=(2, -1), shape="last token (B, E)", colour="orange")
    d.arrow("embedding", "encoder")
    d.arrow("encoder", "score", "keys")
    d.arrow("encoder", "sum", "values")
    d.arrow("encoder", "initial", "last states")
    d.arrow("initial", "state", "first step only", route="across then down", dashed=True)
    d.arrow("score", "softmax")
    d.arrow("softmax", "sum")
    d.arrow("state", "score", "query", shape="(B, U)")
    d.arrow("sum", "cell")
    d.arrow("sum", "readout", route="down then across")
    d.arrow("state", "cell")
    d.arrow("token", "cell", route="around the right")
    d.arrow("token", "readout")
    d.arrow("cell", "readout")
    d.group("Encoder, once", "embedding", "encoder", "initial")
    d.group("Attention", "score", "softmax", "sum", colour="green")
    d.group("Decoder, at every step", "readout", "cell", "token", "state", colour="orange")
    return d.draw()


WORDS = listed("strings", kind=string, least=1)


@accepts(
    words=WORDS,
    asks=string,
    query=string,
    keys=WORDS,
    exponentials=WORDS,
    weights=listed("Fractions", kind=instance(Fraction), least=1),
    values=WORDS,
    context=string,
)
def one_query(
    words: Sequence[str],
    asks: str,
    *,
    query: str,
    keys: Sequence[str],
    exponentials: Sequence[str],
    weights: Sequence[Fraction],
    values: Sequence[str],
    context: str,
) -> Figure:
    """Draw how the query of one word of a sequence becomes its context vector, in numbers.

    Args:
        words: the S words of the sequence.
        asks: the one of them whose query is followed.
        query: its query, such as "(a, 0)".
        keys: of the S words.
        exponentials: exp of the S scores.
        weights: the S attention weights; the bands are as thick as they are large.
        values: of the S words.
        context: the context vector of the word that asks, such as "4/5 a".

    Returns:
        The figure, for `show`.

    Raises:
        ValueError: `asks` is none of the words, or the lists differ in length.
    """
    lists = {"keys": keys, "exponentials": exponentials, "weights": weights, "values": values}
    for name, one in lists.items():
        if len(one) != len(words):
            raise ValueError(f"{name} must have one entry for each word, got {len(one)}")
    if asks not in words:
        raise ValueError(f"asks must be one of the words, got {shown(asks)}")
    across, (wide, high) = 0.96, (0.44, 0.17)  # inches: between columns; half a box
    columns = [1.16 + across * position for position in range(len(words))]
    middle = columns[list(words).index(asks)]
    rows = {"word": 0.0, "query": 0.54, "key": 1.4, "score": 1.98, "weight": 2.42, "value": 3.0}
    end = 3.98

    def boxed(text: str, x: float, y: float, colour: str) -> None:
        area = Rect(x - wide, y - high, x + wide, y + high)
        draw_box(axis, area, Box(text, (0.0, 0.0), "", "box", colour))

    with styled({"axes.grid": False}):
        figure, axis = sheet(Rect(0.0, -0.2, columns[-1] + 0.48, end + 0.25))
        for position, (x, weight) in enumerate(zip(columns, weights, strict=True)):
            axis.plot([middle, x], [rows["query"] + high, rows["key"] - high],
                      color="black", alpha=0.45, linewidth=1.0)  # fmt: skip
            foot = middle + 1.4 * wide * ((position + 0.5) / len(columns) - 0.5)
            top, bottom = (x, rows["value"] + high + 0.01), (foot, end - high - 0.01)
            axis.add_patch(_band(top, bottom, 0.3 * float(weight)))
        for position, x in enumerate(columns):
            strong = "bold" if words[position] == asks else "normal"
            write(axis, words[position], (x, rows["word"]), NAME, fontweight=strong)
            boxed(keys[position], x, rows["key"], "blue")
            write(axis, exponentials[position], (x, rows["score"]), NAME)
            write(axis, str(weights[position]), (x, rows["weight"]), NAME, color=COLOURS["green"])
            boxed(values[position], x, rows["value"], "blue")
        boxed(query, middle, rows["query"], "orange")
        boxed(context, middle, end, "orange")
        labels = {"query": "query\n(K,)", "key": "keys\n(S, K)", "score": "exp(qᵀk / √K)\n(S,)",
                  "weight": "weights\n(S,)", "value": "values\n(S, V)"}  # fmt: skip
        for row, label in labels.items():
            write(axis, label, (0.0, rows[row]), SMALL, ha="left", alpha=0.8)
        write(axis, "context\n(V,)", (0.0, end), SMALL, ha="left", alpha=0.8)
    return figure


def _band(top: Point, bottom: Point, thick: float) -> Polygon:
    """Return a band between two points of two horizontal edges, of a thickness across it."""
    (x, y), (foot, end) = top, bottom
    half = thick / 2 * math.hypot(foot - x, end - y) / (end - y)
    corners = [(x - half, y), (x + half, y), (foot + half, end), (foot - half, end)]
    return Polygon(corners, closed=True, facecolor=to_rgba(COLOURS["green"], 0.55), linewidth=0)


def attention_in_heads() -> Figure:
    """Draw multi-head self-attention, `layers.attention.multi_head.MultiHeadAttention`.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "input", at=(0, 0), shape="(B, S, D)", kind="plain")
    d.box("project", "project", at=(1, 0), shape="3 × (B, S, D)")
    d.box("split", "split into heads", at=(2, 0), shape="3 × (B, H, S, K)")
    d.box("attend", "attend in each head", at=(2, 1), shape="(B, H, S, K)", colour="green")
    d.box("join", "join the heads", at=(2, 2), shape="(B, S, D)", colour="orange")
    d.box("out", "project", at=(1, 2), shape="(B, S, D)", colour="orange")
    d.box("y", "output", at=(0, 2), shape="(B, S, D)", kind="plain")
    d.arrow("x", "project")
    d.arrow("project", "split", "queries, keys,", shape="values")
    d.arrow("split", "attend")
    d.arrow("attend", "join")
    d.arrow("join", "out")
    d.arrow("out", "y")
    return d.draw()


def _pre_norm_sublayers(
    d: Diagram, side: str, column: float, sublayers: Sequence[tuple[str, str]], row: float
) -> tuple[str, float]:
    """Draw sublayers with their norms and residual connections, from the bottom upwards.

    Args:
        d: the diagram; the box `{side} in` exists already.
        side: the prefix of the boxes' names.
        column, row: of the lowest norm.
        sublayers: the name and colour of each.
    Returns:
        the name of the last sum, and the row above it.
    """
    below, ways = f"{side} in", ["around the left", "around the right"]
    if side == "decoder":  # the first route on the left would cross the positional encoding
        ways.reverse()
    for number, (name, colour) in enumerate(sublayers):
        norm, layer, total = (f"{side} {kind} {number}" for kind in ("norm", "layer", "sum"))
        d.box(norm, "layer norm", at=(column, row), colour="pink")
        d.box(layer, name, at=(column, row - 1), colour=colour)
        d.box(total, "+", at=(column, row - 2), kind="round", colour="green")
        for start, end in pairwise((below, norm, layer, total)):
            d.arrow(start, end)
        d.arrow(below, total, route=ways[number % 2], shift=0.62)
        below, row = total, row - 3
    return below, row


def transformer_architecture() -> Figure:
    """Draw all of `models.transformer.transformer.Transformer`, pre-norm, in training.

    Source: Vaswani et al. 2017, figure 1, which draws post-norm.

    Returns:
        The figure, for `show`.
    """
    d = Diagram(row_gap=0.24)
    for side, column, tokens, shape in (
        ("encoder", 0, "source token ids", "(B, S)"),
        ("decoder", 1, "target token ids,\nshifted right", "(B, T)"),
    ):
        d.box(side, tokens, at=(column, 14), shape=shape, kind="plain")
        d.box(f"{side} table", "embedding × √D", at=(column, 13), colour="amber")
        d.box(f"{side} in", "+", at=(column, 12), kind="round", colour="green")
        d.arrow(side, f"{side} table")
        d.arrow(f"{side} table", f"{side} in")
    d.box("waves", "positional encoding", at=(0.5, 12), kind="plain")
    d.arrow("waves", "encoder in")
    d.arrow("waves", "decoder in")
    read, row = _pre_norm_sublayers(
        d,
        "encoder",
        0,
        (("self-attention", "blue"), ("feed-forward network", "blue")),
        11,
    )
    d.box("encoder norm", "final layer norm", at=(0, row), colour="pink")
    d.arrow(read, "encoder norm")
    written, row = _pre_norm_sublayers(
        d,
        "decoder",
        1,
        (("masked self-attention", "orange"), ("cross-attention", "orange"),
         ("feed-forward network", "orange")),
        11,
    )  # fmt: skip
    d.box("decoder norm", "final layer norm", at=(1, row), colour="pink")
    d.box("readout", "output projection", at=(1, row - 1), colour="amber")
    d.box("softmax", "logits", at=(1, row - 2), shape="(B, T, V)", kind="plain")
    for start, end in pairwise((written, "decoder norm", "readout", "softmax")):
        d.arrow(start, end)
    d.arrow("encoder norm", "decoder layer 1", "memory", shape="(B, S, D)", route="across")
    d.group(
        "Encoder × L", *(f"encoder {k} {n}" for k in ("norm", "layer", "sum")
        for n in range(2)),
    )  # fmt: skip
    d.group(
        "Decoder × L", *(f"decoder {k} {n}" for k in ("norm", "layer", "sum")
        for n in range(3)), colour="orange",
    )  # fmt: skip
    return d.draw()


def residual_orders() -> Figure:
    """Draw one sublayer with its residual connection, pre-norm above and post-norm below.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "x", at=(0, 0), shape="(B, S, D)", kind="plain")
    d.box("norm", "layer norm", at=(1, 0), colour="pink")
    d.box("part", "attention or\nfeed-forward", at=(2, 0))
    d.box("sum", "+", at=(3, 0), kind="round", colour="green")
    d.box("y", "y", at=(4, 0), shape="(B, S, D)", kind="plain")
    d.box("past", "residual", at=(2, 1), kind="plain")
    d.box("x2", "x", at=(0, 2), shape="(B, S, D)", kind="plain")
    d.box("part2", "attention or\nfeed-forward", at=(1, 2))
    d.box("sum2", "+", at=(2, 2), kind="round", colour="green")
    d.box("norm2", "layer norm", at=(3, 2), colour="pink")
    d.box("y2", "y", at=(4, 2), shape="(B, S, D)", kind="plain")
    d.box("past2", "residual", at=(1, 3), kind="plain")
    for row in (("x", "norm", "part", "sum", "y"), ("x2", "part2", "sum2", "norm2", "y2")):
        for before, after in pairwise(row):
            d.arrow(before, after)
    for number in ("", "2"):
        d.arrow(f"x{number}", f"past{number}", route="down then across")
        d.arrow(f"past{number}", f"sum{number}", route="across then down")
    return d.draw()
