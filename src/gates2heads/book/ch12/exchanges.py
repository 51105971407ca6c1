"""Chapter 12: models that differ in one component of the block, with equally many parameters."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, natural
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY, python_text
from gates2heads.book.ch12.training import train_on_passages
from gates2heads.layers.attention.alibi import ALiBiAttention
from gates2heads.layers.positions import sinusoids
from gates2heads.models.language.decoder_only import GPT2, LLAMA, STD, DecoderOnly
from gates2heads.training.loop import History

SIZES = {"d_model": 128, "nhead": 4, "num_layers": 4, "max_length": LENGTH}
SMALL = {"d_model": 64, "nhead": 4, "num_layers": 2, "max_length": LENGTH // 2}
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
TAKEN_BACK = {  # Llama's block without one of its changes, as are two of `VARIANTS`
    "llama-norm": {**LLAMA, "norm": "layer"},
    "llama-bias": {**LLAMA, "bias": True},
}
CONTROLS = {  # of the learned table of positions
    "sinusoids": GPT2,  # it begins with sinusoids, and is trained
    "no-positions": GPT2,  # it remains zero
    "alibi": GPT2,  # it remains zero, and distances lower the scores
    "relative": GPT2,  # it remains zero, and a learned number for each distance is added to them
}
BIASED = ("alibi", "relative")
MODELS = VARIANTS | TAKEN_BACK | CONTROLS
STEPS, BATCH, RATE = 1_000, 32, 3e-3


@accepts(variant=choice(MODELS))
def variant_model(variant: str, *, sizes: Mapping = SIZES) -> DecoderOnly:
    """A model of the comparison: its feed-forward width makes all equally large.

    The number of parameters of every variant differs from that of "gpt2" by less than 0.2 %; that
    of the three controls without positions includes their table of zeros. "relative" has less than
    0.5 % more, its numbers for the distances.

    Args:
        variant: one of `MODELS`.
        sizes: `SIZES` or `SMALL`.
    """
    settings = MODELS[variant]
    wanted = parameters(_model(GPT2, 4 * sizes["d_model"], sizes))
    model = _model(settings, _width(settings, wanted, sizes), sizes)
    if variant == "sinusoids":
        waves = sinusoids(torch.arange(sizes["max_length"]), sizes["d_model"])
        model.position_table.weight.data = STD * waves / waves.std()
    if variant in ("no-positions", *BIASED):
        model.position_table.requires_grad_(False).weight.zero_()
    if variant in BIASED:
        kind = _Linear if variant == "alibi" else _Learned
        for layer in model.layers:
            layer.attention = kind(sizes)
    return model


class _Linear(ALiBiAttention):
    """ALiBi with the initial weights of GPT-2; it has no cache."""

    def __init__(self, sizes: Mapping):
        super().__init__(sizes["d_model"], sizes["nhead"])
        nn.init.normal_(self.in_proj.weight, std=STD)
        nn.init.normal_(self.out_proj.weight, std=STD / math.sqrt(2 * sizes["num_layers"]))

    def forward(self, inputs: Tensor, mask: None = None) -> Tensor:
        """Attend to this position and those before it; `DecoderOnly.logits` gives no other mask."""
        assert mask is None
        return super().forward(inputs)


class _Learned(_Linear):
    """The same with a learned number for each head and distance, at first zero.

    Source: Raffel et al. 2020, section 2.1, without their buckets of distances, and not shared by
    the layers.
    """

    def __init__(self, sizes: Mapping):
        super().__init__(sizes)
        self.by_distance = nn.Parameter(torch.zeros(sizes["nhead"], sizes["max_length"]))

    def bias(self, length: int) -> Tensor:
        """Give (H, S, S): the number of the distance between query and key."""
        at = torch.arange(length, device=self.by_distance.device)
        return self.by_distance[:, (at[:, None] - at).clamp(min=0)]


@accepts(variant=choice(MODELS), steps=natural)
def train_variant(
    variant: str,
    seed: int,
    *,
    steps: int = STEPS,
    batch: int = BATCH,
    rate: float = RATE,
    sizes: Mapping = SIZES,
) -> tuple[DecoderOnly, History]:
    """Train a model on Python source.

    Args:
        variant: one of `MODELS`.
        seed: of the initialisation and of the sampled passages.
        steps: how many batches are read.
        batch: passages in a batch, each as long as the model's context.
        rate: the peak learning rate of a cosine schedule with 100 warm-up steps.
        sizes: `SIZES` or `SMALL`.
    """
    torch.manual_seed(seed)
    model = variant_model(variant, sizes=sizes)
    history = train_on_passages(
        model,
        python_text("train").tokens,
        seed,
        steps=steps,
        batch=batch,
        length=sizes["max_length"],
        rate=rate,
        warmup=min(100, steps // 2),
        description=f"{variant}, seed {seed}",
    )
    return model, history


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(parameter.numel() for parameter in model.parameters())


def _model(settings: Mapping, width: int, sizes: Mapping) -> DecoderOnly:
    return DecoderOnly(VOCABULARY, **sizes, **settings, dim_feedforward=width)


def _width(settings: Mapping, wanted: int, sizes: Mapping) -> int:
    """The feed-forward width with which a model comes closest to `wanted` parameters."""
    with torch.device("meta"):
        one, two = (parameters(_model(settings, width, sizes)) for width in (1, 2))
    return round(1 + (wanted - one) / (two - one))
