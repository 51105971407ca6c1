"""Chapter 7, Transformer: the checks of its exercises."""

from gates2heads.book.ch07.exercises.blocks import (
    OUTPUT,
    attention_mask,
    check_attention_mask,
    check_by_hand,
    check_encoder_block,
    check_layer_norm,
    check_rms_norm,
    encoder_block,
    layer_norm,
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
    "attention_mask",
    "cached_step",
    "check_attention_mask",
    "check_by_hand",
    "check_cached_step",
    "check_encoder_block",
    "check_intensity",
    "check_layer_norm",
    "check_repair",
    "check_rms_norm",
    "encoder_block",
    "intensity",
    "layer_norm",
    "repaired",
    "rms_norm",
]
