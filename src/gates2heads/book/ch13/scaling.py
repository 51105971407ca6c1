"""Chapter 13: language models of many sizes, trained on more or less text."""

import torch

from gates2heads.accepts import accepts, count, positive, seed
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY, python_text
from gates2heads.book.ch12.training import train_on_passages
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import History

HEAD_WIDTH, BATCH = 16, 16
TOKENS_A_STEP = BATCH * LENGTH
RATE, RATE_WIDTH = 3e-3, 128  # the rate falls with the square root of the width


@accepts(width=count, layers=count)
def scaled_model(width: int, layers: int) -> DecoderOnly:
    """A model of Llama's block, whose parts grow in proportion to its width.

    Args:
        width: D, a multiple of 16.
        layers: how many blocks there are.
    """
    return DecoderOnly(
        VOCABULARY,
        d_model=width,
        nhead=max(1, width // (2 * HEAD_WIDTH)),
        num_layers=layers,
        dim_feedforward=round(8 * width / 3),
        max_length=LENGTH,
        **LLAMA,
    )


def block_parameters(model: DecoderOnly) -> int:
    """How many parameters a model has without its embedding."""
    return parameters(model) - model.token_table.weight.numel()


@accepts(width=count, layers=count, tokens=count, seed=seed, rate=positive)
def train_scaled(
    width: int, layers: int, tokens: int, seed: int, *, rate: float | None = None
) -> tuple[DecoderOnly, History]:
    """Train a model on the first tokens of the training text, each read once on average.

    Args:
        width, layers: see `scaled_model`.
        tokens: how many tokens are read, in batches of 16 passages with 256 tokens each.
        seed: of the initialisation and of the sampled passages.
        rate: the peak learning rate of a cosine schedule; if not given, 0.003 at a width of 128,
            and less by the square root of the width for wider models.
    """
    torch.manual_seed(seed)
    model, steps = scaled_model(width, layers), max(4, tokens // TOKENS_A_STEP)
    text = python_text("train").tokens[: max(tokens, LENGTH + 1)]
    history = train_on_passages(
        model,
        text,
        seed,
        steps=steps,
        batch=BATCH,
        length=LENGTH,
        rate=RATE * (RATE_WIDTH / width) ** 0.5 if rate is None else rate,
        warmup=max(2, min(100, steps // 10)),
        description=f"width {width}, {layers} layers, {tokens:,} tokens, seed {seed}",
    )
    return model, history
