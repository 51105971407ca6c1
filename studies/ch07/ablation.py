"""What does each part of a Transformer do? Take it away, train, and see. Chapter 7 shows it.

    python -m studies.ch07.ablation --seeds 0 1 2
    python -m studies.ch07.ablation --table

Each change of `gates2heads.book.ch07.ablation` trains a small Transformer on dates: 300 batches
of 32. `losses` are means of the training loss over 20 steps, in nats a character. Of 300 dates of
other days: `forced`, the loss when the decoder reads the right characters; `next_right`, the share
of characters that it then finds; `exact`, the accuracy on dates in free-running decoding;
`sure`, the mean probability that it gives to what it finds most likely.
"""

from collections.abc import Callable

import torch

from gates2heads.book.ch07.ablation import (
    BATCH_SIZE,
    CHANGES,
    DECAY,
    FEW,
    LONGEST,
    RATE,
    STEPS,
    WARMUP,
    changed_transformer,
    date_data,
    loss_for,
)
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import exact_match
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy
from gates2heads.training.schedules import warmup_linear

BIN, SHOWN = 20, 4


def measured(model, data) -> dict:
    """What a trained model does with dates of other days."""
    texts, wanted = map(list, zip(*data.tested, strict=True))
    batch = collate(encode_pairs(data.tested, data.source, data.target))
    with torch.no_grad():
        logits = model(batch)
    real, (sure, found) = batch.target_mask, logits.softmax(-1).max(-1)
    written = translate(model, texts, data.source, data.target, max_length=LONGEST)
    return {
        "forced": cross_entropy(logits, batch.target_out, mask=real).item(),
        "next_right": (found == batch.target_out)[real].double().mean().item(),
        "sure": sure[real].mean().item(),
        "exact": exact_match(written, wanted),
        "written": [list(three) for three in zip(texts, wanted, written, strict=True)][:SHOWN],
    }


def run(
    change: str,
    seed: int,
    *,
    steps: int | None = None,
    rate: float = RATE,
    build: Callable = changed_transformer,
) -> dict:
    """Train one Transformer with one change.

    Args:
        change: one of `CHANGES`.
        seed: of the parameters and of the batches.
        steps: of training; None for those of the chapter.
        rate: the peak of the learning rate.
        build: makes the model of a change.
    """
    data, steps = date_data(), steps or STEPS
    pairs = data.train[:FEW] if change.startswith("few dates") else data.train
    torch.manual_seed(seed)
    model = build(change)
    warmup = 0 if change.endswith("no warm-up") else WARMUP
    history = fit(
        model,
        endless_batches(pairs, BATCH_SIZE, seed=seed),
        steps=steps,
        loss=loss_for(change),
        learning_rate=rate,
        schedule=warmup_linear(steps, warmup=warmup, decay=DECAY),
        description=f"{change}, seed {seed}",
    )
    bins = torch.tensor(history.loss).view(-1, BIN).mean(1)
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "every": BIN,
        "losses": [round(value, 5) for value in bins.tolist()],
        **measured(model.eval(), data),
    }


if __name__ == "__main__":
    Study("ch07/ablation", run, tuple(CHANGES)).main()
