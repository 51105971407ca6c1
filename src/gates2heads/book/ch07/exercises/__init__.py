"""Chapter 7, Transformer: the checks of its exercises."""

from gates2heads.book.ch07.exercises.blocks import (
    OUTPUT,
    check_by_hand,
    check_encoder_block,
    check_layer_norm,
    check_may_see,
    check_rms_norm,
    encoder_block,
    layer_norm,
    may_see,
    rms_norm,
)
from gates2heads.book.ch07.exercises.generation import (
    cached_step,
    check_cached_step,
    check_intensity,
    check_repair,
    intensity,
    repaired,
)

__all__ = [
    "OUTPUT",
    "cached_step",
    "check_by_hand",
    "check_cached_step",
    "check_encoder_block",
    "check_intensity",
    "check_layer_norm",
    "check_may_see",
    "check_repair",
    "check_rms_norm",
    "encoder_block",
    "intensity",
    "layer_norm",
    "may_see",
    "repaired",
    "rms_norm",
]
