"""The diagrams of pre-training: four objectives, the input, and the heads of four tasks."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from gates2heads.accepts import accepts, listed, natural, strings
from gates2heads.figures.diagrams.diagram import Diagram

# What each model sees when it predicts "Krone", and what it predicts.
COLUMNS = (
    (
        "ELMo",
        "→ The Danish\n← . Greenland … is",
        "two stacks of LSTMs,\none per direction",
        "(B, L, 2U)",
    ),
    ("GPT", "The Danish", "causal\nself-attention", "(B, L, D)"),
    ("BERT", "The Danish [MASK]\nis … Greenland .", "bidirectional\nself-attention", "(B, L, D)"),
    ("ERNIE", "The [MASK] [MASK]\nis … Greenland .", "bidirectional\nself-attention", "(B, L, D)"),
)
ASKED = (
    ("Krone, as next and as\nprevious token", "2 × (B, L, V)"),
    ("Krone, as\nnext token", "(B, L, V)"),
    ("Krone;\nnext sentence?", "(|M|, V), (B, 2)"),
    ("Danish, Krone;\nnext sentence?", "(|M|, V), (B, 2)"),
)
TASKS = (
    (
        "classification",
        "[CLS] sentence [SEP]",
        "vector of [CLS]",
        "hidden layer,\none score per class",
        "true or false",
        "(B, 2)",
    ),
    (
        "slot filling",
        "[CLS] sentence [SEP]",
        "all vectors",
        "four scores\nfor each token",
        "a label for each token",
        "(B, L, 4)",
    ),
    (
        "inference",
        "[CLS] premise [SEP]\nhypothesis [SEP]",
        "vector of [CLS]",
        "hidden layer,\none score per class",
        "one of three relations",
        "(B, 3)",
    ),
    (
        "question answering",
        "[CLS] question [SEP]\npassage [SEP]",
        "all vectors",
        "two scores\nfor each token",
        "a span, or none",
        "2 × (B, L)",
    ),
)


def four_ways() -> Figure:
    """Draw the four models of `models.pretraining` side by side: input, model, objective.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    for column, (heading, asked) in enumerate(zip(COLUMNS, ASKED, strict=True)):
        name, read, model, shape = heading
        d.box(f"read {name}", read, at=(column, 2), shape="(B, L)", kind="plain")
        d.box(f"model {name}", model, at=(column, 1), shape=shape)
        d.box(f"asked {name}", asked[0], at=(column, 0), shape=asked[1], colour="orange")
        for below, above in pairwise(("read", "model", "asked")):
            d.arrow(f"{below} {name}", f"{above} {name}")
        d.group(name, f"asked {name}", f"model {name}")
    return d.draw()


def four_heads() -> Figure:
    """Draw the encoder with a head for each of four tasks: input, vectors, output.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    for column, (task, read, used, head, output, shape) in enumerate(TASKS):
        d.box(f"read {task}", read, at=(column, 3), kind="plain")
        d.box(f"encoder {task}", "BERT", at=(column, 2), shape="(B, L, D)")
        d.box(f"head {task}", head, at=(column, 1), shape=shape, colour="orange")
        d.box(f"output {task}", f"{task}:\n{output}", at=(column, 0), kind="plain")
        d.arrow(f"read {task}", f"encoder {task}")
        d.arrow(f"encoder {task}", f"head {task}", used)
        d.arrow(f"head {task}", f"output {task}")
    return d.draw()


@accepts(tokens=strings, segments=listed("segments", kind=natural(least=0, most=1)))
def input_embeddings(
    tokens: Sequence[str], segments: Sequence[int], shown_positions: Sequence[int]
) -> Figure:
    """Draw the three embeddings that BERT adds up for each token of its input.

    Args:
        tokens: the L tokens of one input, with [CLS] and [SEP].
        segments: the L segments, 0 or 1.
        shown_positions: the positions that are drawn, ascending; an ellipsis marks a gap.

    Returns:
        The figure, for `show`.

    Raises:
        ValueError: the number of segments differs from that of tokens, or a position is outside the
            input.
    """
    if len(segments) != len(tokens):
        raise ValueError(f"segments must hold {len(tokens)} numbers, got {len(segments)}")
    for at in shown_positions:
        natural(least=0, most=len(tokens) - 1).check("each of shown_positions", at)
    d = Diagram(row_gap=0.05)
    parts = ("input", "token embedding", "segment embedding", "position embedding", "layer 0")
    for column, part in enumerate(parts):
        d.box(part, part, at=(column, 0), kind="plain")
    row, last = 1, None
    for at in shown_positions:
        if last is not None and at > last + 1:
            d.box(f"gap {row}", "…", at=(0, row), kind="plain")
            row += 1
        d.box(f"token {at}", tokens[at], at=(0, row), kind="plain")
        added = (f"E {tokens[at]}", f"S {segments[at]}", f"P {at}", f"sum at {at}")
        for column, name in enumerate(added, 1):
            d.box(
                f"{at} {column}", name, at=(column, row), colour="blue" if column < 4 else "orange"
            )
            if column > 1:
                sign = "+" if column < 4 else "="
                d.box(f"{at} {column} sign", sign, at=(column - 0.5, row), kind="plain")
        row, last = row + 1, at
    return d.draw()
