"""One shared block, or three separate ones? Chapter 7's page *Further* shows the results.

    python -m studies.ch07.shared_layers --seeds 0 1 2
    python -m studies.ch07.shared_layers --table

A Universal Transformer with three applications per side is trained on dates like the models of
`ablations.py`: same pairs, batches, steps and rate; so is a Transformer with one block per side.
The ordinary one of three blocks is "whole" there. In the settings' names, `rounds` are applications
of the shared block. `result` is defined as there; `rounds` has the loss and the correct characters
when the trained Universal Transformer applies its block another number of times than in training.
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
