"""What does each component of a Transformer do? Chapter 7 removes one at a time and retrains.

    python -m studies.ch07.ablation --seeds 0 1 2
    python -m studies.ch07.ablation --table

A setting is a change of `gates2heads.book.ch07.ablation`. A small Transformer with this change is
trained on dates, on 300 batches of 32. `losses` are means of the training loss over 20 steps, in
nats per character. The other values are measured on 300 dates of other days:

- `forced`: the loss with teacher forcing, in nats per character;
- `next_right`: the share of characters that are then predicted correctly;
- `sure`: the mean probability of the most probable character;
- `exact`: the share of dates that are completely correct in free-running decoding.
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
