"""Diagrams of recurrent and convolutional networks."""

from itertools import pairwise

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram


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
    for place in (0, 1):
        number = place + 1
        d.box(f"x{number}", f"x{number}", at=(place, 1), kind="plain")
        d.box(f"back{number}", f"←h{number}", at=(place, 0), shape="(U/2,)")
        d.box(f"on{number}", f"→h{number}", at=(place, 2), shape="(U/2,)")
        d.arrow(f"x{number}", f"back{number}")
        d.arrow(f"x{number}", f"on{number}")
    d.box("context", "context c", at=(2, 2), shape="(U,)", colour="green")
    for place, (read, written) in enumerate((("<bos>", "y1"), ("y1", "y2"), ("y2", "<eos>"))):
        column = 3 + place
        d.box(f"r{place}", read, at=(column, 3), shape="and c", kind="plain")
        d.box(f"s{place}", f"s{place + 1}", at=(column, 2), shape="(U,)", colour="orange")
        d.box(f"y{place}", written, at=(column, 1), kind="plain")
        d.arrow(f"r{place}", f"s{place}")
        d.arrow(f"s{place}", f"y{place}")
    d.arrow("back2", "back1")
    d.arrow("back1", "context", route="around the top", shift=-0.1)
    for before, after in pairwise(("on1", "on2", "context", "s0", "s1", "s2")):
        d.arrow(before, after)
    d.group("Encoder", "back1", "on2")
    d.group("Decoder", "y0", "s0", "s1", "s2", "y2", colour="orange")
    return d.draw()


def teacher_forcing_and_free_running() -> Figure:
    """Draw four training steps of a decoder for the year 1936, with true and with own inputs.

    Solid arrows lead forwards; dashed ones are the gradients of the losses.

    Source: Williams & Zipser 1989.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    true, own = ("1", "9", "3", "6"), ("1", "8", "3", "6")
    for top, (title, fed) in enumerate((("Teacher forcing", true), ("Free running", own))):
        loss, output, state, read = (4 * top + row for row in range(4))
        is_own = fed is own
        d.box(f"encoder{top}", "encoder", at=(0, read), shape="x")
        d.box(f"c{top}", "context c", at=(0, state), colour="green")
        _there_and_back(d, f"encoder{top}", f"c{top}")
        for step, (target, best) in enumerate(zip(true, own, strict=True), start=1):
            here = f"{top} {step}"
            token, whose = ("<bos>", "start") if step == 1 else (fed[step - 2], "true")
            whose = "own" if is_own and step > 1 else whose
            d.box(f"read{here}", token, at=(step, read), shape=whose, kind="plain")
            d.box(f"s{here}", f"s{step}", at=(step, state), colour="orange")
            d.box(
                f"best{here}",
                "softmax",
                at=(step, output),
                shape=f"ŷ{step} = {best}",
                colour="amber",
            )
            d.box(f"loss{here}", f"−log P({target})", at=(step, loss), kind="plain")
            d.arrow(f"read{here}", f"s{here}")
            _there_and_back(d, f"c{top}" if step == 1 else f"s{top} {step - 1}", f"s{here}")
            _there_and_back(d, f"s{here}", f"best{here}")
            _there_and_back(d, f"best{here}", f"loss{here}")
            if is_own and step > 1:
                d.arrow(f"best{top} {step - 1}", f"read{here}", route="across")
        names = [f"{name}{top} {step}" for name in ("read", "loss") for step in (1, 4)]
        d.group(title, f"encoder{top}", f"c{top}", *names, colour=("blue", "orange")[top])
    return d.draw()


def _there_and_back(d: Diagram, start: str, end: str) -> None:
    """Two parallel arrows: forwards, and dashed, the gradient."""
    d.arrow(start, end, shift=-0.08)
    d.arrow(end, start, shift=0.08, dashed=True)


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
