"""Diagrams of decoder-only models: the parts of GPT-2 and of Llama, and a mixture of experts."""

from itertools import pairwise

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram

PARTS = (  # of one column, from the input up: name, in GPT-2, in Llama, colour
    ("table", "token\nembedding", "token\nembedding", "amber"),
    ("place", "+ learned\nposition", "", "green"),
    ("input", "x", "x", "blue"),  # of the block
    ("first norm", "LayerNorm", "RMSNorm", "pink"),
    ("attention", "causal\nself-attention", "causal\nself-attention,\nrotary encoding", "blue"),
    ("first sum", "+", "+", "green"),
    ("between", "x", "x", "blue"),
    ("second norm", "LayerNorm", "RMSNorm", "pink"),
    ("hidden", "feed-forward\nwith GELU", "SwiGLU", "orange"),
    ("second sum", "+", "+", "green"),
    ("last norm", "LayerNorm", "RMSNorm", "pink"),
    ("output", "output\nprojection", "output\nprojection", "amber"),
)  # fmt: skip


WAYS = ("around the left", "around the right")
SHIFTS = (0.57, 0.7)  # inside the frame of a block


def gpt2_and_llama() -> Figure:
    """Draw the two stacks of `models.language.decoder_only.DecoderOnly` side by side.

    Sources: Radford et al. 2019, section 2.3; Touvron et al. 2023, section 2.2.

    Returns:
        The figure, for `show`.
    """
    d = Diagram(row_gap=0.3)
    for column, model in enumerate(("GPT-2", "Llama")):
        names = []
        for number, (name, *kinds, colour) in enumerate(PARTS):
            if not (words := kinds[column]):
                continue
            kind = {"+": "round", "x": "plain"}.get(words, "box")
            look = {"kind": kind} if kind != "box" else {}
            names.append(f"{model} {name}")
            d.box(names[-1], words, at=(column, len(PARTS) - number), colour=colour, **look)
        for start, end in pairwise(names):
            d.arrow(start, end)
        inside, around = names[-10:-2], WAYS[column]
        for before, after in ((inside[0], inside[3]), (inside[4], inside[7])):
            d.arrow(before, after, route=around, shift=SHIFTS[column])
        d.group(model, *inside, colour="blue")
    return d.draw()


def mixture_of_experts() -> Figure:
    """Draw `book.ch12.experts.MixtureOfExperts`: a router and four feed-forward sublayers.

    Source: Fedus et al. 2022, figure 2.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "a token’s vector", at=(0, 1.5), shape="(D,)", kind="plain")
    d.box("router", "router", at=(1, 1.5), shape="probabilities (E,)", colour="green")
    for number in range(4):
        chosen = number == 1
        d.box(
            f"expert {number}",
            f"expert {number + 1}",
            at=(2, number),
            shape="computed" if chosen else "not computed",
            **({"colour": "orange"} if chosen else {"kind": "plain"}),
        )
        d.arrow("router", f"expert {number}", "most probable" if chosen else "", dashed=not chosen)
    d.box("out", "× its probability", at=(3, 1), shape="(D,)", colour="green")
    d.arrow("x", "router")
    d.arrow("expert 1", "out")
    return d.draw()


def grouped_queries() -> Figure:
    """Draw four query heads with four, two and one heads of keys and values.

    Source: Ainslie et al. 2023, figure 2.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    for number, (name, groups) in enumerate(
        (("multi-head", 4), ("grouped-query", 2), ("multi-query", 1))
    ):
        first, boxes = 4.6 * number, []
        for head in range(4):
            boxes.append(f"{name} q{head}")
            d.box(boxes[-1], "q", at=(first + head, 0), colour="orange")
        for group in range(groups):
            size = 4 // groups
            boxes.append(f"{name} kv{group}")
            middle = first + group * size + (size - 1) / 2
            d.box(boxes[-1], "k, v", at=(middle, 1), colour="blue")
            for head in range(group * size, (group + 1) * size):
                d.arrow(boxes[-1], f"{name} q{head}", route="down")
        d.group(name, *boxes, colour="green")
    return d.draw()


def decoding_with_cache() -> Figure:
    """Draw attention in one decoding step, with the keys and values of three earlier tokens.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("out", "head’s output", at=(5, 2), shape="(K,)", kind="plain")
    d.box("attend", "attention", at=(4, 2), shape="weights (1, 4)", colour="green")
    for place, word in enumerate(("def", "total", "_sum", "(")):
        new = place == 3
        d.box(
            f"kv {place}",
            f"k{'₁₂₃₄'[place]}, v{'₁₂₃₄'[place]}",
            at=(place, 1),
            shape="computed now" if new else "stored",
            colour="orange" if new else "blue",
        )
        d.box(f"token {place}", f"“{word}”", at=(place, 0), kind="plain")
        d.arrow(f"kv {place}", "attend", route="down then across")
    d.box("q", "q₄", at=(4, 1), shape="computed now", colour="orange")
    d.arrow("token 3", "kv 3")
    d.arrow("token 3", "q", route="across then down")
    d.arrow("q", "attend")
    d.arrow("attend", "out")
    d.group("KV cache of one head", "kv 0", "kv 1", "kv 2")
    return d.draw()
