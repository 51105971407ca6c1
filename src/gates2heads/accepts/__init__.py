"""Floor 0: declarations of valid arguments; an invalid one raises a one-sentence message."""

from gates2heads.accepts.declare import Call, Kind, accepts
from gates2heads.accepts.tensors import anything, bools, counts, floats, mask, tokens, whole
from gates2heads.accepts.things import a, function, generator, listed, mapping, maybe, module
from gates2heads.accepts.values import (
    choice,
    count,
    flag,
    number,
    positive,
    seed,
    share,
    text,
    texts,
)

__all__ = [
    "Call",
    "Kind",
    "a",
    "accepts",
    "anything",
    "bools",
    "choice",
    "count",
    "counts",
    "flag",
    "floats",
    "function",
    "generator",
    "listed",
    "mapping",
    "mask",
    "maybe",
    "module",
    "number",
    "positive",
    "seed",
    "share",
    "text",
    "texts",
    "tokens",
    "whole",
]
