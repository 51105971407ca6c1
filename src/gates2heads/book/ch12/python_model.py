"""Chapter 12: the language model of Python source that runs in the page, and its training."""

import torch

from gates2heads.accepts import accepts, count, seed, share
from gates2heads.book.ch12.exchanges import BATCH, RATE
from gates2heads.book.ch12.python_text import (
    LENGTH,
    VOCABULARY,
    prefixed_passages,
    python_text,
)
from gates2heads.data.batches.passages import passage_loss
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine

SIZES = {
    "d_model": 192,
    "nhead": 6,
    "num_key_value_heads": 2,
    "num_layers": 6,
    "dim_feedforward": 512,
    "max_length": LENGTH,
}


@accepts(steps=count, seed=seed, dropout=share)
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
    history = fit(
        model,
        prefixed_passages(python_text("train").tokens, BATCH, length=LENGTH, seed=seed),
        steps=steps,
        loss=lambda model, passage: passage_loss(model.logits, passage),
        learning_rate=RATE,
        schedule=warmup_cosine(steps, warmup=min(200, steps // 2)),
        betas=(0.9, 0.95),
        weight_decay=0.1,
        description="Python source",
    )
    return model.eval(), history
