"""Floor 0: what an argument may be, declared where it is taken; a wrong one gets one sentence."""

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
