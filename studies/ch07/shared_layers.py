"""One shared block, or three separate ones? Chapter 7's page *Further* shows the results.

    python -m studies.ch07.shared_layers --seeds 0 1 2
    python -m studies.ch07.shared_layers --table

The settings are a Universal Transformer that applies one block three times on each side, and a
Transformer with one block on each side. Both are trained on dates like the models of `ablation.py`,
with the same pairs, batches, steps and learning rate; the Transformer with three blocks is the
setting "whole" there. In the settings' names, `rounds` are applications of the shared block.

The stored values are described in `ablation.py`. In addition, `rounds` has the loss and the share
of correct characters when the trained Universal Transformer applies its block a different number of
times.
"""

import torch

from gates2heads.book.ch07.ablation import (
    BATCH_SIZE,
    DECAY,
    RATE,
    SIZES,
    STEPS,
    WARMUP,
    date_data,
)
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy, sequence_loss
from gates2heads.training.schedules import warmup_linear
from studies.ch07.ablation import BIN, measured

SETTINGS = {
    "one block, three rounds": (UniversalTransformer, 3),  # term: rounds, a stored key
    "one block": (Transformer, 1),
}
ROUNDS = (1, 2, 3, 4, 6, 12)


def model_of(setting: str):
    """A model of one setting, randomly initialised."""
    kind, depth = SETTINGS[setting]
    data = date_data()
    depths = {"num_encoder_layers": depth, "num_decoder_layers": depth}
    vocabularies = (len(data.source.vocabulary), len(data.target.vocabulary))
    return kind(*vocabularies, **(SIZES | depths))


def other_rounds(model, data) -> list[dict]:
    """Loss and share of correct characters after other numbers of applications, on new dates."""
    batch = collate(encode_pairs(data.tested, data.source, data.target))
    found, trained = [], model.encoder_applications
    for count in ROUNDS:
        model.encoder_applications = model.decoder_applications = count
        with torch.no_grad():
            logits = model(batch)
        right = logits.argmax(-1) == batch.target_out
        found.append(
            {
                "rounds": count,
                "forced": cross_entropy(logits, batch.target_out, mask=batch.target_mask).item(),
                "next_right": right[batch.target_mask].double().mean().item(),
            }
        )
    model.encoder_applications = model.decoder_applications = trained
    return found


def run(setting: str, seed: int) -> dict:
    """Train one model."""
    torch.set_num_threads(1)
    data = date_data()
    torch.manual_seed(seed)
    model = model_of(setting)
    history = fit(
        model,
        endless_batches(data.train, BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=RATE,
        schedule=warmup_linear(STEPS, warmup=WARMUP, decay=DECAY),
        description=f"{setting}, seed {seed}",
    )
    model = model.eval()
    bins = torch.tensor(history.loss).view(-1, BIN).mean(1)
    results = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "every": BIN,
        "losses": [round(value, 5) for value in bins.tolist()],
        **measured(model, data),
    }
    if isinstance(model, UniversalTransformer):
        results["rounds"] = other_rounds(model, data)
    return results


if __name__ == "__main__":
    Study("ch07/shared_layers", run, tuple(SETTINGS)).main()
