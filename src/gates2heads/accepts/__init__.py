"""Layer 0: declarations of valid arguments; an invalid one raises a one-sentence message."""

from gates2heads.accepts.declare import Call, Kind, accepts
from gates2heads.accepts.tensors import anything, boolean_mask, bools, counts, floats, tokens, whole
from gates2heads.accepts.things import function, generator, instance, listed, mapping, maybe, module
from gates2heads.accepts.values import (
    any_seed,
    choice,
    flag,
    fraction,
    natural,
    number,
    positive,
    string,
    strings,
)

__all__ = [
    "Call",
    "Kind",
    "accepts",
    "any_seed",
    "anything",
    "boolean_mask",
    "bools",
    "choice",
    "counts",
    "flag",
    "floats",
    "fraction",
    "function",
    "generator",
    "instance",
    "listed",
    "mapping",
    "maybe",
    "module",
    "natural",
    "number",
    "positive",
    "string",
    "strings",
    "tokens",
    "whole",
]
