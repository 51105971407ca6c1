"""Chapter 12: the training of language models on passages of one long text."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from gates2heads.accepts import (
    accepts,
    any_seed,
    function,
    instance,
    natural,
    positive,
    string,
    tokens,
)
from gates2heads.book.ch12.python_text import prefixed_passages
from gates2heads.data.batches.passages import passage_loss
from gates2heads.models.language.base import NeuralLanguageModel
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine


def surprisal(model: NeuralLanguageModel, passage: Tensor) -> Tensor:
    """The mean cross-entropy in nats of the tokens of a passage (B, L + 1) but the first."""
    return passage_loss(model.logits, passage)


@accepts(
    model=instance(NeuralLanguageModel),
    tokens=tokens("N"),
    seed=any_seed,
    steps=natural,
    batch=natural,
    length=natural,
    rate=positive,
    warmup=natural,
    description=string,
    loss=function("model", "passage"),
)
def train_on_passages(
    model: NeuralLanguageModel,
    tokens: Tensor,
    seed: int,
    *,
    steps: int,
    batch: int,
    length: int,
    rate: float,
    warmup: int,
    description: str,
    loss: Callable[[NeuralLanguageModel, Tensor], Tensor] = surprisal,
    evaluate: Callable[[NeuralLanguageModel], Any] | None = None,
    evaluate_at: Sequence[int] = (),
) -> History:
    """Train a model in place with AdamW on passages of a text; afterwards it is in evaluation mode.

    Args:
        model: initialised already.
        tokens: (N,) long, the text.
        seed: of the sampled passages.
        steps: how many batches are read.
        batch: passages in a batch.
        length: tokens in a passage, after `<bos>`.
        rate: the peak learning rate of a cosine schedule.
        warmup: steps in which the rate rises to it.
        description: for the progress bar.
        loss: of the model and a batch of passages.
        evaluate, evaluate_at: see `training.loop.fit`.
    """
    history = fit(
        model,
        prefixed_passages(tokens, batch, length=length, seed=seed),
        steps=steps,
        loss=loss,
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=warmup),
        betas=(0.9, 0.95),
        weight_decay=0.1,
        evaluate=evaluate,
        evaluate_at=evaluate_at,
        description=description,
    )
    model.eval()
    return history
