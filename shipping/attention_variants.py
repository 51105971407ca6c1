"""Five attention variants for dates: before or after the step, soft or hard, global or local.

    python -m shipping.attention_variants before
    python -m shipping.attention_variants after
    python -m shipping.attention_variants hard
    python -m shipping.attention_variants monotonic
    python -m shipping.attention_variants predictive

Each run writes `src/gates2heads/models/weights/looking_WAY.safetensors`: the weights of seed 0,
and a card with data, command, seed and the exact match in the course of training, apart for dates
whose parts have the order of the target and for all others. The cards of `hard` and
`predictive` also hold the course of two more seeds, that of `hard` moreover of a run without the
baseline and of one without REINFORCE. A run takes about a minute on a quiet core, that of
`predictive` three, that of `hard` five.
"""

import argparse
from functools import partial
from pathlib import Path

import torch

from gates2heads.book.ch05.attention_variants import WAYS, SampledLoss, looking_model, year_first
from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import exact_match
from gates2heads.training.cards import save_model
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

SEED, SIZE, BATCH_SIZE, STEPS, EVERY = 0, 30_000, 64, 800, 50
ORDERS = {"year first": True, "other order": False}
WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"
MOST_WRITTEN = 12  # ten characters, <eos>, and one that would be wrong


def tokenizers():
    """Those of the chapter: the characters of its training dates, source and target."""
    train = dates("train", SIZE)
    texts = ([getattr(pair, side) for pair in train] for side in ("text", "iso"))
    return [CharacterTokenizer.from_texts(side) for side in texts]


def right_by_order(model, source, target, size: int) -> dict[str, float]:
    """Exact match on validation dates, by the order of their parts; hard attention draws."""
    model.decoder.attention.train()  # `fit` puts the mode back
    right = {}
    for name, first in ORDERS.items():
        pairs = [pair for pair in dates("validation", size) if year_first(pair) == first]
        written = translate(model, [p.text for p in pairs], source, target, max_length=MOST_WRITTEN)
        right[name] = exact_match(written, [p.iso for p in pairs])
    return right


def run(way: str, source, target, *, seed: int = SEED, loss=sequence_loss, name: str = ""):
    """Train one model; return it and its history."""
    torch.manual_seed(seed)
    model = looking_model(way, len(source.vocabulary), len(target.vocabulary))
    pairs = encode_pairs([(p.text, p.iso) for p in dates("train", SIZE)], source, target)
    history = fit(
        model,
        endless_batches(pairs, BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
        evaluate=partial(right_by_order, source=source, target=target, size=400),
        evaluate_at=range(EVERY, STEPS + 1, EVERY),
        description=name or way,
    )
    return model, history


def loss_of(way: str):
    """Hard attention needs draws and a reward; the others have a gradient everywhere."""
    return SampledLoss() if way == "hard" else sequence_loss


def companions(way: str) -> dict:
    """The runs of which only the course is kept, for the two ways that differ much by seed."""
    if way not in ("hard", "predictive"):
        return {}
    kinds = {f"seed {seed}": (seed, loss_of(way)) for seed in (1, 2)}
    if way == "hard":
        kinds["no baseline"] = (SEED, SampledLoss(baseline=False))
        kinds["no REINFORCE"] = (SEED, SampledLoss(reinforce=False))
    return kinds


def main() -> None:
    """Train one of the five models and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=WAYS)
    way = parser.parse_args().way
    source, target = tokenizers()
    model, history = run(way, source, target, loss=loss_of(way))
    others = {}
    for name, (seed, other_loss) in companions(way).items():
        _, other = run(way, source, target, seed=seed, loss=other_loss, name=name)
        others[name] = other.evaluations
    card = {
        "data": f"{SIZE:,} CLDR dates in eight languages, as in chapter 5",
        "command": f"python -m shipping.attention_variants {way}",
        "seed": SEED,
        "evaluated_at": history.evaluated_at,
        "right": history.evaluations,
        "others": others,
        "seconds": round(history.seconds),
    }
    path = WEIGHTS / f"looking_{way}.safetensors"
    decoding = {"width": 1, "length_power": 1.0, "max_length": MOST_WRITTEN}
    save_model(path, model, source=source, target=target, decoding=decoding, card=card)


if __name__ == "__main__":
    main()
