"""The diagrams of pre-training: what each of four models reads, and what it is asked."""

from itertools import pairwise

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram

COLUMNS = (
    ("ELMo", "every token", "two rows of LSTMs,\none from each end", "(B, L, 2U)"),
    ("GPT", "every token", "self-attention\nthat looks back", "(B, L, D)"),
    ("BERT", "15 % of tokens hidden", "self-attention\nto both sides", "(B, L, D)"),
    ("ERNIE", "whole names hidden", "self-attention\nto both sides", "(B, L, D)"),
)
ASKED = (
    ("the next token,\nthe one before", "2 × (B, L, V)"),
    ("the next token", "(B, L, V)"),
    ("hidden tokens;\nsame subject?", "(|M|, V), (B, 2)"),
    ("hidden tokens;\nsame subject?", "(|M|, V), (B, 2)"),
)


def four_ways() -> Figure:
    """Draw the four models of `models.pretraining` side by side.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    for column, (told, asked) in enumerate(zip(COLUMNS, ASKED, strict=True)):
        name, read, model, shape = told
        d.box(f"read {name}", read, at=(column, 2), shape="(B, L)", kind="plain")
        d.box(f"model {name}", model, at=(column, 1), shape=shape)
        d.box(f"asked {name}", asked[0], at=(column, 0), shape=asked[1], colour="orange")
        for below, above in pairwise(("read", "model", "asked")):
            d.arrow(f"{below} {name}", f"{above} {name}")
        d.group(name, f"asked {name}", f"model {name}")
    return d.draw()
