"""Diagrams of the library's models, each shape as the model's own docstrings have it."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram


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
    d.arrow("state", "score", "query", shape="(B, 1, U)")
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


def self_attention_head() -> Figure:
    """Draw one head of self-attention over one sequence of S vectors.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "input", at=(0, 1), shape="(S, D)", kind="plain")
    d.box("query", "queries", at=(1, 0), shape="(S, K)", colour="orange")
    d.box("key", "keys", at=(1, 1), shape="(S, K)")
    d.box("value", "values", at=(1, 2), shape="(S, V)")
    d.box("scores", "Q Kᵀ / √K", at=(2, 1), shape="scores (S, S)", colour="green")
    d.box("mask", "mask", at=(3, 0), shape="(S, S), optional", kind="plain")
    d.box("softmax", "softmax of rows", at=(3, 1), shape="weights (S, S)", colour="green")
    d.box("sum", "weighted sum", at=(3, 2), shape="context (S, V)", colour="green")
    d.arrow("x", "query", "W_q", route="down then across")
    d.arrow("x", "key", "W_k")
    d.arrow("x", "value", "W_v", route="down then across")
    d.arrow("query", "scores", route="across then down")
    d.arrow("key", "scores")
    d.arrow("scores", "softmax")
    d.arrow("mask", "softmax")
    d.arrow("softmax", "sum")
    d.arrow("value", "sum")
    return d.draw()


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


def step_of_a_beam() -> Figure:
    """Draw one step of a beam search of width k, `decoding.beam.beam`, for one source.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("prefixes", "prefixes", at=(0, 0), shape="tokens (k, t), log P (k, 1)", kind="plain")
    d.box("model", "model", at=(1, 0), shape="log P of the next (k, V)")
    d.box("sums", "add cumulative log P", at=(2, 0), shape="candidates (k·V)", colour="green")
    d.box("best", "the k most probable", at=(2, 1), shape="prefix, token (k)", colour="green")
    d.box("end", "finished", at=(2, 2), shape="ranked by score", colour="orange")
    d.box("order", "reorder", at=(1, 1), shape="state of each (k, …)")
    d.box("next", "longer prefixes", at=(0, 1), shape="tokens (k, t + 1)", kind="plain")
    d.arrow("prefixes", "model", "last token")
    d.arrow("model", "sums")
    d.arrow("sums", "best")
    d.arrow("best", "end", "<eos>")
    d.arrow("best", "order", "the others")
    d.arrow("order", "next")
    return d.draw()


def two_chances() -> Figure:
    """Draw the computation of one score of the leaderboard from runs of a model and captions.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("model", "configuration", at=(0, 0), shape="one budget", kind="plain")
    d.box("runs", "runs", at=(1, 0), shape="R seeds")
    d.box("texts", "their outputs", at=(2, 0), shape="(R, C) texts", colour="orange")
    d.box("captions", "test captions", at=(1, 1), shape="C, sampled once", kind="plain")
    d.box("counts", "n-gram counts", at=(2, 1), shape="(R, C, 10)", colour="green")
    d.box("scores", "BLEU of each run", at=(3, 1), shape="q_1 … q_R", colour="green")
    d.box("report", "mean and interval", at=(3, 0), shape="three numbers", colour="green")
    d.arrow("model", "runs", "source 1")
    d.arrow("runs", "texts", "beam of five")
    d.arrow("captions", "counts", "source 2")
    d.arrow("texts", "counts")
    d.arrow("counts", "scores", "summed over C")
    d.arrow("scores", "report")
    return d.draw()


def counts_of_bleu() -> Figure:
    """Draw the computation of `metrics.bleu.Bleu`, from texts to the score.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "hypothesis x", at=(0, 0), shape="tokens", kind="plain", colour="orange")
    d.box("s", "references s", at=(0, 1), shape="K × tokens", kind="plain")
    d.box("own", "n-grams of x", at=(1, 0), colour="orange")
    d.box("most", "most in any\none reference", at=(1, 1))
    d.box("found", "clipped\nmatches", at=(2, 0), shape="N counts", kind="round", colour="green")
    d.box("share", "precisions", at=(3, 0), shape="P, N shares", colour="green")
    d.box("short", "penalty b", at=(2, 2), colour="green")
    d.box("score", "BLEU", at=(4, 0), colour="green")
    d.box("length", "lengths", at=(0, 2), kind="plain")
    d.arrow("x", "own")
    d.arrow("s", "most")
    d.arrow("own", "found")
    d.arrow("most", "found", route="across then down")
    d.arrow("found", "share", "divided by all of x")
    d.arrow("share", "score", "geometric mean")
    d.arrow("length", "short")
    d.arrow("short", "score", route="across then down")
    return d.draw()


def gru_cell() -> Figure:
    """Draw one step of `layers.recurrent.GRUCell`, reset before the product.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("old", "old h", at=(0, 0), shape="(U,)", kind="plain")
    d.box("keep", "z × h", at=(1, 0), kind="round", colour="green")
    d.box("add", "+", at=(2, 0), kind="round", colour="green")
    d.box("new", "new h", at=(4, 0), shape="(U,)", colour="orange")
    d.box("written", "× (1 − z)", at=(2, 1), kind="round", colour="green")
    d.box("update", "update\ngate z\nσ", at=(1, 2), shape="(U,)")
    d.box("candidate", "candidate\ntanh", at=(2, 2), shape="(U,)", colour="orange")
    d.box("read", "r × h", at=(3, 2), kind="round", colour="green")
    d.box("reset", "reset\ngate r\nσ", at=(4, 2), shape="(U,)")
    d.box("input", "x, old h", at=(0, 3), shape="(D,), (U,)", kind="plain")
    d.arrow("old", "keep")
    d.arrow("keep", "add")
    d.arrow("add", "new")
    d.arrow("update", "keep")
    d.arrow("update", "written", route="down then across")
    d.arrow("candidate", "written")
    d.arrow("written", "add")
    d.arrow("reset", "read")
    d.arrow("read", "candidate")
    d.arrow("input", "update", route="across then down")
    d.arrow("input", "candidate", "x", route="across then down")
    d.arrow("input", "read", "h", route="across then down")
    d.arrow("input", "reset", route="across then down")
    return d.draw()


def lstm_cell() -> Figure:
    """Draw one step of `layers.recurrent.LSTMCell`.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("old", "old c", at=(0, 0), shape="(U,)", kind="plain")
    d.box("keep", "f × c", at=(1, 0), kind="round", colour="green")
    d.box("add", "+", at=(2, 0), kind="round", colour="green")
    d.box("new", "new c", at=(4, 0), shape="(U,)", colour="orange")
    d.box("written", "×", at=(2, 1), kind="round", colour="green")
    d.box("show", "o × tanh(c)", at=(4, 1), kind="round", colour="green")
    d.box("hidden", "new h", at=(5, 1), shape="(U,)", colour="orange")
    gates = {"forget": ("forget\ngate f", "σ"), "input": ("input\ngate i", "σ")}
    gates |= {"candidate": ("candidate", "tanh"), "output": ("output\ngate o", "σ")}
    for column, (name, (words, squash)) in enumerate(gates.items(), start=1):
        colour = "orange" if name == "candidate" else "blue"
        d.box(name, f"{words}\n{squash}", at=(column, 2), shape="(U,)", colour=colour)
    d.box("read", "x, old h", at=(0, 3), shape="(D,), (U,)", kind="plain")
    d.arrow("old", "keep")
    d.arrow("keep", "add")
    d.arrow("add", "new")
    d.arrow("forget", "keep")
    d.arrow("input", "written")
    d.arrow("candidate", "written", route="down then across")
    d.arrow("written", "add")
    d.arrow("new", "show")
    d.arrow("output", "show")
    d.arrow("show", "hidden")
    for name in gates:
        d.arrow("read", name, route="across then down")
    return d.draw()


def unrolled_rnn() -> Figure:
    """Draw a plain recurrent network over three steps, with a loss at the end.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("h0", "h0 = 0", at=(0, 0), shape="(U,)", kind="plain")
    for step in (1, 2, 3):
        d.box(f"x{step}", f"x{step}", at=(step, 1), shape="(D,)", kind="plain")
        d.box(f"h{step}", f"h{step}", at=(step, 0), shape="(U,)")
        d.arrow(f"h{step - 1}", f"h{step}", "W")
        d.arrow(f"x{step}", f"h{step}", "A")
    d.box("scores", "output layer", at=(4, 0), shape="scores", colour="orange")
    d.box("loss", "loss L", at=(5, 0), kind="plain")
    d.arrow("h3", "scores")
    d.arrow("scores", "loss")
    return d.draw()


def backpropagation_through_time() -> Figure:
    """Draw three steps of h = ½ h + x for x = 1, 0, 0 forwards, and the derivatives backwards.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("h0", "h0 = 0", at=(0, 1), kind="plain")
    d.box("loss", "L = ½ h3²\n= 1/32", at=(4, 1), kind="round", colour="green")
    inputs, states, slopes = ("1", "0", "0"), ("1", "1/2", "1/4"), ("1/16", "1/8", "1/4")
    for step, (read, state, slope) in enumerate(zip(inputs, states, slopes, strict=True), start=1):
        d.box(f"x{step}", f"x{step} = {read}", at=(step, 0), kind="plain")
        d.box(f"h{step}", f"h{step} = {state}", at=(step, 1))
        d.box(f"d{step}", f"∂L/∂h{step}\n= {slope}", at=(step, 2), colour="orange")
        d.arrow(f"x{step}", f"h{step}")
        d.arrow(f"h{step - 1}", f"h{step}", "w = ½")
    d.arrow("h3", "loss")
    d.arrow("loss", "d3", route="down then across", dashed=True)
    d.arrow("d3", "d2", "× w", dashed=True)
    d.arrow("d2", "d1", "× w", dashed=True)
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


def convolutional_translator() -> Figure:
    """Draw `models.translation.convolutional_translator` in training.

    Source: Gehring et al. 2017, figure 1.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("source", "source token ids", at=(0, 4), shape="(B, S)", kind="plain")
    d.box("read", "token + position\nembedding", at=(0, 3), colour="amber")
    d.box("look", "convolution, GLU, residual", at=(0, 2))
    d.box("target", "target token ids,\nshifted right", at=(1, 4), shape="(B, T)", kind="plain")
    d.box("written", "token + position\nembedding", at=(1, 3), colour="amber")
    d.box("back", "causal convolution, GLU, residual", at=(1, 2), colour="orange")
    d.box("cross", "attention to the encoder output", at=(1, 1), colour="orange")
    d.box("readout", "output projection", at=(1, 0), shape="logits (B, T, V)", colour="amber")
    for column in (("source", "read", "look"), ("target", "written", "back", "cross", "readout")):
        for below, above in pairwise(column):
            d.arrow(below, above)
    d.arrow("look", "cross", "(B, S, D)", route="down then across")
    d.group("Encoder × L", "look")
    d.group("Decoder × L", "back", "cross", colour="orange")
    return d.draw()


def unrolled_encoder_decoder() -> Figure:
    """Draw an encoder–decoder without attention, `models.translation.EncoderDecoder`, unrolled.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    for place, character in enumerate(("x1", "x2")):
        d.box(f"x{place}", character, at=(place, 2), kind="plain")
        d.box(f"h{place}", f"h{place + 1}", at=(place, 1), shape="(U,)")
        d.arrow(f"x{place}", f"h{place}")
    d.box("context", "context", at=(2, 1), shape="(U,)", colour="green")
    for place, (read, written) in enumerate((("<bos>", "y1"), ("y1", "y2"), ("y2", "<eos>"))):
        column = 3 + place
        d.box(f"r{place}", read, at=(column, 2), kind="plain")
        d.box(f"s{place}", f"s{place + 1}", at=(column, 1), shape="(U,)", colour="orange")
        d.box(f"y{place}", written, at=(column, 0), kind="plain")
        d.arrow(f"r{place}", f"s{place}")
        d.arrow(f"s{place}", f"y{place}")
    for before, after in pairwise(("h0", "h1", "context", "s0", "s1", "s2")):
        d.arrow(before, after)
    d.group("Encoder", "h0", "h1")
    d.group("Decoder", "y0", "s0", "s1", "s2", "y2", colour="orange")
    return d.draw()


def chain_of_tokens() -> Figure:
    """Draw the chain rule of a language model, one factor per token."""
    d = Diagram()
    words = ("a", "dog", "sleeps", "<eos>")
    factors = ("p(a | <bos>)", "p(dog | a)", "p(sleeps | a dog)", "p(<eos> | a dog sleeps)")
    for column, (word, factor) in enumerate(zip(words, factors, strict=True)):
        d.box(f"read{column}", ("<bos>", *words)[column], at=(column, 3), kind="plain")
        d.box(f"model{column}", "model", at=(column, 2), shape="state")
        d.box(f"next{column}", "softmax", at=(column, 1), shape="(V,)", colour="green")
        d.box(f"out{column}", word, at=(column, 0), shape=factor, colour="orange")
        for below, above in pairwise(("read", "model", "next", "out")):
            d.arrow(f"{below}{column}", f"{above}{column}")
        if column:
            d.arrow(f"model{column - 1}", f"model{column}")
    return d.draw()
