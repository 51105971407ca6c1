"""Chapter 12: models that differ in one component of the block, with equally many parameters."""

from collections.abc import Mapping

import torch
from torch import nn

from gates2heads.accepts import accepts, choice, natural
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY, python_text
from gates2heads.book.ch12.training import train_on_passages
from gates2heads.layers.positions import sinusoids
from gates2heads.models.language.decoder_only import GPT2, LLAMA, STD, DecoderOnly
from gates2heads.training.loop import History

SIZES = {"d_model": 128, "nhead": 4, "num_layers": 4, "max_length": LENGTH}
FEED_FORWARD = 512  # width of the feed-forward sublayer of GPT-2's block
VARIANTS = {
    "gpt2": GPT2,
    "rms": {**GPT2, "norm": "rms"},
    "rotary": {**GPT2, "positions": "rotary"},
    "swiglu": {**GPT2, "feed_forward": "swiglu"},
    "no-bias": {**GPT2, "bias": False},
    "untied": {**GPT2, "tie": False},
    "llama": LLAMA,
    "llama-learned": {**LLAMA, "positions": "learned"},
    "llama-gelu": {**LLAMA, "feed_forward": "gelu"},
    "groups-2": {**LLAMA, "num_key_value_heads": 2},
    "groups-1": {**LLAMA, "num_key_value_heads": 1},
    "window-64": {**LLAMA, "window": 64},
}
CONTROLS = {  # of the learned table of positions
    "sinusoids": GPT2,  # it begins with sinusoids, and is trained
    "no-positions": GPT2,  # it remains zero
}
MODELS = VARIANTS | CONTROLS
STEPS, BATCH, RATE = 1_000, 32, 3e-3


@accepts(variant=choice(MODELS))
def variant_model(variant: str) -> DecoderOnly:
    """A model of the comparison: its feed-forward width makes all equally large.

    The number of parameters of every variant differs from that of "gpt2" by less than 0.2 %; that
    of "no-positions" includes its table of zeros.
    """
    settings = MODELS[variant]
    wanted = parameters(DecoderOnly(VOCABULARY, **SIZES, dim_feedforward=FEED_FORWARD, **GPT2))
    model = DecoderOnly(VOCABULARY, **SIZES, **settings, dim_feedforward=_width(settings, wanted))
    if variant == "sinusoids":
        waves = sinusoids(torch.arange(SIZES["max_length"]), SIZES["d_model"])
        model.position_table.weight.data = STD * waves / waves.std()
    if variant == "no-positions":
        model.position_table.requires_grad_(False).weight.zero_()
    return model


@accepts(variant=choice(MODELS), steps=natural)
def train_variant(
    variant: str, seed: int, *, steps: int = STEPS, rate: float = RATE
) -> tuple[DecoderOnly, History]:
    """Train a model on Python source.

    Args:
        variant: one of `MODELS`.
        seed: of the initialisation and of the sampled passages.
        steps: batches of 32 passages with 256 tokens each.
        rate: the peak learning rate of a cosine schedule with 100 warm-up steps.
    """
    torch.manual_seed(seed)
    model = variant_model(variant)
    history = train_on_passages(
        model,
        python_text("train").tokens,
        seed,
        steps=steps,
        batch=BATCH,
        length=LENGTH,
        rate=rate,
        warmup=min(100, steps // 2),
        description=f"{variant}, seed {seed}",
    )
    return model, history


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(parameter.numel() for parameter in model.parameters())


def _width(settings: Mapping, wanted: int) -> int:
    """The feed-forward width with which a model comes closest to `wanted` parameters."""
    with torch.device("meta"):
        sizes = {
            width: parameters(DecoderOnly(VOCABULARY, **SIZES, **settings, dim_feedforward=width))
            for width in (1, 2)
        }
    slope = sizes[2] - sizes[1]
    return round(1 + (wanted - sizes[1]) / slope)
