"""Loss against parameters, tokens and compute. Section 13.1 shows the results.

    python -m studies.ch13.scaling --seeds 0
    python -m studies.ch13.scaling --table

A setting such as "64x3 4M" is a model of width 64 with 3 layers that reads 4 million tokens of
Python source. `loss` is the cross-entropy of the test modules in nats per token.
Settings that end in "x2" and "/2" have twice and half the learning rate.
"""

import math

import torch

from gates2heads.book.ch12.python_text import bits_per_character, python_text
from gates2heads.book.ch13.scaling import RATE, RATE_WIDTH, block_parameters, train_scaled
from gates2heads.book.studies import Study
from gates2heads.data.corpora.python_source import PACKAGES, source_fingerprint

SIZES = ((32, 2), (48, 2), (64, 3), (96, 3), (128, 4), (192, 4), (256, 5), (384, 6))
MILLIONS = (1, 2, 4, 8, 16, 26)
CHANGED = ("x2", "/2")
SETTINGS = {
    f"{width}x{layers} {millions}M{f' {change}' if change else ''}": (
        width,
        layers,
        millions,
        {"": 1.0, "x2": 2.0, "/2": 0.5}[change],
    )
    for change in ("", *CHANGED)
    for width, layers in SIZES
    for millions in MILLIONS
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    if not torch.cuda.is_available():
        torch.set_num_threads(1)
    width, layers, millions, change = SETTINGS[setting]
    rate = change * RATE * (RATE_WIDTH / width) ** 0.5
    model, history = train_scaled(width, layers, millions * 10**6, seed, rate=rate)
    text = python_text("test")
    bits = bits_per_character(model, text)
    blocks = block_parameters(model)
    steps = len(history.loss)
    return {
        "parameters": blocks + model.token_table.weight.numel(),
        "block_parameters": blocks,
        "tokens": millions * 10**6,
        "rate": rate,
        "bits_per_character": bits,
        "loss": bits * math.log(2) * text.characters / len(text.tokens),
        "training": [
            sum(history.loss[at : at + max(1, steps // 20)]) / max(1, steps // 20)
            for at in range(0, steps - max(1, steps // 20) + 1, max(1, steps // 20))
        ],
        "training_seconds": history.seconds,
        "corpus": source_fingerprint(PACKAGES),
    }


if __name__ == "__main__":
    Study("ch13/scaling", run, SETTINGS).main()
