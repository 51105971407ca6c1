"""How long a source can one vector hold? Train with and without attention on lists of dates.

    python -m shipping.bottleneck none --steps 6000
    python -m shipping.bottleneck additive --steps 2000

Each run writes `src/gates2heads/models/weights/bottleneck_NAME.safetensors`: the weights, and a
card with data, command, seed and the accuracy by list length in the course of training.
A run that was interrupted goes on where it stopped when the command is given again.
"""

import argparse
import random
from pathlib import Path

import torch

from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import date_lists
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import parts_right
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.cards import save_model
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint
from gates2heads.training.schedules import warmup_linear

LOCALES, FORMS = ("en", "fr", "de"), ("medium", "yMMMd")
LONGEST, SIZE, BATCH_SIZE, SEED = 5, 8000, 64, 0
SETTINGS = {"embedding_size": 64, "hidden_size": 64}
WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"
MOST_WRITTEN = 8 * 11 + 1  # each date with the space behind it; more than any list of training


def lists(split: str, size: int, count: int):
    """Lists of `count` dates as (text, ISO) pairs."""
    pairs = date_lists(split, size, count, locales=LOCALES, forms=FORMS, seed=SEED)
    return [(pair.text, pair.iso) for pair in pairs]


def mixed_batches(source, target, seed: int = SEED):
    """Batches of one list length each, the length sampled for every batch."""
    streams = [
        endless_batches(
            encode_pairs(lists("train", SIZE, count), source, target), BATCH_SIZE, seed=seed
        )
        for count in range(1, LONGEST + 1)
    ]
    draw = random.Random(seed)
    while True:
        yield next(draw.choice(streams))


def dates_right(model, source, target, size: int) -> dict[int, float]:
    """Share of single dates that are correct at their position, by list length."""
    right = {}
    for count in range(1, LONGEST + 1):
        texts, wanted = zip(*lists("validation", size, count), strict=True)
        written = translate(model, texts, source, target, max_length=11 * count + 1)
        right[count] = parts_right(written, wanted)
    return right


def main() -> None:
    """Train one of the two models and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("score", help="a score function such as additive, or none")
    parser.add_argument("--steps", type=int, required=True)
    arguments = parser.parse_args()
    steps, score = arguments.steps, arguments.score
    texts, isos = zip(*lists("train", SIZE, LONGEST), strict=True)
    source, target = CharacterTokenizer.from_texts(texts), CharacterTokenizer.from_texts(isos)
    torch.manual_seed(SEED)
    sizes = len(source.vocabulary), len(target.vocabulary)
    model = EncoderDecoder(*sizes, score=model_score(score), **SETTINGS)
    history = fit(
        model,
        mixed_batches(source, target),
        steps=steps,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(steps, warmup=100, decay=0.6),
        evaluate=lambda trained: dates_right(trained, source, target, 100),
        evaluate_at=range(steps // 20, steps + 1, steps // 20),
        checkpoint=TrainingCheckpoint(f"checkpoints/bottleneck_{score}_{steps}.pt", every=200),
        description=score,
    )
    card = {
        "data": f"lists of 1 to {LONGEST} CLDR dates, {', '.join(LOCALES)}, {', '.join(FORMS)}",
        "command": f"python -m shipping.bottleneck {score} --steps {steps}",
        "seed": SEED,
        "settings": {**SETTINGS, "score": model_score(score)},
        "evaluated_at": history.evaluated_at,
        "dates_right": history.evaluations,
        "seconds": round(history.seconds),
    }
    path = WEIGHTS / f"bottleneck_{score}.safetensors"
    decoding = {"width": 1, "length_power": 1.0, "max_length": MOST_WRITTEN}
    save_model(path, model, source=source, target=target, decoding=decoding, card=card)


def model_score(name: str) -> str | None:
    """The score function's name as the model takes it."""
    return None if name == "none" else name


if __name__ == "__main__":
    main()
