"""For each kind of argument a right value, and the wrong ones that an ordinary slip hands over.

Nobody hands a quantised sparse tensor with a hostile `repr` to a layer. What readers do hand over
is the wrong width, a tensor without its batch, integers for numbers, a string for a list.
"""

import math
from functools import singledispatch

import torch
from torch import nn

from gates2heads.accepts import things, values
from gates2heads.accepts.tensors import anything, boolean_mask, bools, counts, floats, whole
from gates2heads.figures import arguments as figures

PRIMES = {"B": 2, "T": 3, "S": 5, "D": 7, "U": 11, "V": 13, "L": 17, "H": 19, "K": 23}
WIDTH = 7  # of an axis that is named by a word


def shape_of(kind):
    """Distinct primes for letters, one size for every word."""
    return tuple(
        int(axis) if axis.isdigit() else PRIMES.get(axis, 29) if axis[0].isupper() else WIDTH
        for axis in kind.axes
        if axis != "…"
    )


@singledispatch
def sample(kind):
    """A value that the kind takes."""
    raise NotImplementedError(f"no sample for {kind!r}: add one to {__file__}")


@singledispatch
def mistakes(kind):
    """Values that the kind must refuse."""
    raise NotImplementedError(f"no mistakes for {kind!r}: add some to {__file__}")


def both(kind, right, wrong):
    """Register two functions of a kind: its right value, and its wrong ones."""
    sample.register(kind, right)
    mistakes.register(kind, wrong)


def wrong_counts(kind):
    yield from ("7", 2.5, None, True, [7], kind.least - 1)
    if kind.most < math.inf:
        yield kind.most + 1


def wrong_numbers(kind):
    yield from ("0.5", None, [0.5], math.nan, math.inf, -math.inf)
    if kind.least > -math.inf:
        yield kind.least - 1


both(values.Natural, lambda kind: min(max(kind.least, WIDTH), kind.most), wrong_counts)
both(values.Number, lambda kind: min(max(kind.least, 0.7), kind.most), wrong_numbers)
both(
    values.Positive,
    lambda kind: min(0.7, kind.most),
    lambda kind: ("0.5", None, [0.5], 0, -0.5, math.nan, math.inf),
)
both(
    values.Fraction,
    lambda kind: 0.3,
    lambda kind: ("0.1", None, [0.1], -0.1, 1.1, math.nan, 50),
)
both(values.Flag, lambda kind: True, lambda kind: ("no", None, 0, 1, 0.5))
both(
    values.choice,
    lambda kind: next(iter(kind.words)),
    lambda kind: ("no such word", None, 3, [next(iter(kind.words))], *({""} - {*kind.words})),
)
both(
    values.String,
    lambda kind: "a cat sits on the mat",
    lambda kind: (None, 3, b"a cat", ["a cat"], "\udc80", *([] if kind.empty else [" "])),
)
both(
    values.Strings,
    lambda kind: ["a cat", "sits"] * max(1, kind.least),
    lambda kind: ("a cat", None, 3, ["a cat", None], *([[]] if kind.least else [])),
)
both(
    figures.Words,
    lambda kind: "loss (nats)",
    lambda kind: (None, 3, b"loss", "\x00", r"$\frac$", *([] if kind.empty else [" "])),
)
both(figures.Form, lambda kind: ".1%", lambda kind: (None, 1, "no format", ".1q"))
both(
    figures.named,
    lambda kind: {"one": WIDTH},
    lambda kind: ("abc", None, [1, 2], {3: WIDTH}, {"\x00": WIDTH}),
)


class StandIn(int):
    """An object of which a declaration may ask any attribute: each is a width."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def stand_in(kind):
    """Something that passes for an instance."""
    first = kind.kind[0] if isinstance(kind.kind, tuple) else kind.kind
    return type("Passing", (StandIn,), {"__class__": property(lambda self: first)})(WIDTH)


def wrong_lists(kind):
    yield from ("abc", None, 3)
    if kind.least:
        yield []
    if kind.kind is not None:
        yield from ([wrong] for wrong in mistakes(kind.kind))


both(things.instance, stand_in, lambda kind: (object(), None))
both(things.Module, lambda kind: nn.Linear(WIDTH, 5), lambda kind: (nn.Linear, "a model", None))
both(things.Generator, lambda kind: torch.Generator(), lambda kind: (7, "seed"))
both(
    things.function,
    lambda kind: lambda *_: None,
    lambda kind: ("a function", None, 3, lambda *_, a_word_that_nobody_gives: None),
)
both(
    things.listed,
    lambda kind: [sample(kind.kind) if kind.kind else WIDTH] * max(kind.least, 2),
    wrong_lists,
)
both(things.mapping, lambda kind: {"one": WIDTH}, lambda kind: ("abc", None, [1, 2]))
both(
    things.maybe,
    lambda kind: sample(kind.kind),
    lambda kind: (wrong for wrong in mistakes(kind.kind) if wrong is not None),
)


def wrong_tensors(kind):
    """What is no tensor, has an axis too many, is twice as wide as it should be, or is empty."""
    right = sample(kind)
    yield from (None, "a tensor", [[1.0]])
    if "…" not in kind.axes:
        yield right[None]
    for place, axis in enumerate(kind.axes):
        if axis != "…" and not axis[0].isupper():
            yield torch.cat([right, right], dim=place - len(kind.axes))
    if not kind.empty:
        yield right[..., :0]


def wrong_whole(kind):
    yield from wrong_tensors(kind)
    yield sample(kind).float()
    if kind.below is not None:
        yield from (sample(kind) + 10**6, -sample(kind))


def wrong_masks(kind):
    right = sample(kind)
    yield from (None, "a mask", True, right.float(), right.long(), right[None])


both(anything, lambda kind: torch.ones(shape_of(kind)), wrong_tensors)
both(
    floats,
    lambda kind: torch.ones(shape_of(kind)),
    lambda kind: (*wrong_tensors(kind), sample(kind).long()),
)
both(whole, lambda kind: torch.ones(shape_of(kind)).long(), wrong_whole)
both(
    bools,
    lambda kind: torch.ones(shape_of(kind)).bool(),
    lambda kind: (*wrong_tensors(kind), sample(kind).float()),
)
both(
    counts,
    lambda kind: torch.ones(shape_of(kind)),
    lambda kind: (
        *wrong_tensors(kind),
        -sample(kind),
        sample(kind) * math.nan,
        *([0 * sample(kind)] if kind.some else []),
    ),
)
both(boolean_mask, lambda kind: torch.ones(shape_of(kind)).bool(), wrong_masks)
