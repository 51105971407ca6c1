"""Chapter 12: the language model of Python source that runs in the page, and its training."""

import torch

from gates2heads.accepts import accepts, any_seed, fraction, natural
from gates2heads.book.ch12.exchanges import BATCH, RATE
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY, python_text
from gates2heads.book.ch12.training import train_on_passages
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import History

SIZES = {
    "d_model": 192,
    "nhead": 6,
    "num_key_value_heads": 2,
    "num_layers": 6,
    "dim_feedforward": 512,
    "max_length": LENGTH,
}


@accepts(steps=natural, seed=any_seed, dropout=fraction)
def train_python_model(
    steps: int, seed: int = 0, *, dropout: float = 0.0
) -> tuple[DecoderOnly, History]:
    """Train the model on Python source.

    Args:
        steps: batches of 32 passages with 256 tokens each.
        seed: of the initialisation and of the sampled passages.
        dropout: on embeddings and on the output of each sublayer.
    """
    torch.manual_seed(seed)
    model = DecoderOnly(VOCABULARY, **SIZES, **LLAMA, dropout=dropout)
    history = train_on_passages(
        model,
        python_text("train").tokens,
        seed,
        steps=steps,
        batch=BATCH,
        length=LENGTH,
        rate=RATE,
        warmup=min(200, steps // 2),
        description="Python source",
    )
    return model, history
