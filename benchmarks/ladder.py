"""The ladder: translators of the same captions, from one vector to nothing but attention.

    python benchmarks/ladder.py captions-gru --seeds 0 1 2
    python benchmarks/ladder.py                                  # every rung, seed 0
    python benchmarks/ladder.py --table                          # what is stored, as Markdown

Each run is `python -m gates2heads train RECIPE --set seed=N`. Weights go to checkpoints/ladder;
what is there is not trained again, and an interrupted run goes on. The results are added to
benchmarks/results/ladder.json.
"""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

import torch

from gates2heads.checks.values import check_count
from gates2heads.decoding.translation import translate
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.models.translation.forcing import unroll
from gates2heads.training.files import write_whole
from gates2heads.training.losses import cross_entropy
from gates2heads.training.recipes.recipe import RECIPES, read_recipe
from gates2heads.training.recipes.runs import evaluate, load, loss_of, search_of, train
from gates2heads.training.studies import spread

RESULTS = Path(__file__).with_name("results") / "ladder.json"
WEIGHTS = Path("checkpoints/ladder")
RUNGS = [name for name in RECIPES if name.startswith("captions-")]
WIDTHS = (1, 5)
# What teaching material elsewhere reports for the same captions, on words in lower case, after ten
# epochs (the Transformer with 9.0 million parameters): what each rung must beat.
TWINS = {
    "captions-lstm": 13.76,
    "captions-gru": 20.61,
    "captions-bahdanau": 28.30,
    "captions-convolutional": 34.14,
    "captions-transformer": 36.52,
}
SHOWN = 100  # every so manieth sentence of the test set is kept with its translation


def free_running_loss(model, batch) -> torch.Tensor:
    """Cross-entropy of the true tokens for a decoder that reads its own before them."""
    state = model.start(batch.source, mask=batch.source_mask)
    log_probs = unroll(model.step, state, batch.target_in, forced=0.0)
    return cross_entropy(log_probs, batch.target_out, mask=batch.target_mask)


def result(recipe: str, weights: Path) -> dict:
    """All that is told of one trained model, on the test set."""
    trained = load(weights)
    card, pairs = trained.card, trained.task.pairs("test")
    texts, wanted = map(list, zip(*pairs, strict=True))
    shown = {"max_length": trained.task.max_length, **search_of(card["recipe"])}
    some = range(0, len(texts), SHOWN)
    written = translate(
        trained.model, [texts[n] for n in some], trained.source, trained.target, **shown
    )
    searches = {f"width {width}": evaluate(trained, "test", width=width) for width in WIDTHS}
    return {
        "recipe": recipe,
        **{name: card[name] for name in ("seed", "command", "parameters", "seconds", "machine")},
        "validation": dict(zip(card["evaluated_at"], card["evaluations"], strict=True)),
        "perplexity": math.exp(searches["width 1"]["loss"]),
        "perplexity_free_running": math.exp(loss_of(trained, pairs, free_running_loss)),
        "test": searches,
        "signature": corpus_bleu(wanted, [[text] for text in wanted]).signature,
        "translations": [
            {"german": texts[n], "reference": wanted[n], "translation": text}
            for n, text in zip(some, written, strict=True)
        ],
    }


def store(row: dict) -> None:
    """Add a result to the file, in the place of an older one of the same run."""
    run = ("recipe", "seed")
    rows = [old for old in stored() if [old[key] for key in run] != [row[key] for key in run]]
    rows.append(row)
    rows.sort(key=lambda one: (RUNGS.index(one["recipe"]), one["seed"]))
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    write_whole(RESULTS, lambda file: file.write(text.encode()))


def table(rows: Sequence[dict]) -> str:
    """What is stored, one line for each rung, as Markdown."""
    heads = (
        "recipe", "seeds", "parameters", "minutes", "perplexity, forced", "free-running",
        "BLEU, greedy", "BLEU, beam 5", "lower case", "published", "chrF",
    )  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for rung in dict.fromkeys(row["recipe"] for row in rows):
        runs = [row for row in rows if row["recipe"] == rung]
        told = {width: [run["test"][f"width {width}"] for run in runs] for width in WIDTHS}
        cells = (
            rung,
            len(runs),
            f"{runs[0]['parameters'] / 1e6:.1f} M",
            spread([run["seconds"] / 60 for run in runs], 0),
            spread([run["perplexity"] for run in runs]),
            spread([run["perplexity_free_running"] for run in runs], 0),
            spread([one["bleu"] for one in told[1]]),
            spread([one["bleu"] for one in told[5]]),
            spread([one["bleu_lower_case"] for one in told[5]]),
            TWINS.get(rung, "–"),
            spread([one["chrf"] for one in told[5]]),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def stored() -> list[dict]:
    """The results so far."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []


def main() -> None:
    """Train and measure the rungs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rungs", nargs="*", metavar="RECIPE", help=", ".join(RUNGS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--table", action="store_true", help="print what is stored, train nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(stored()))
        return
    for rung in arguments.rungs:
        if rung not in RUNGS:
            parser.error(f"RECIPE must be one of {', '.join(RUNGS)}, got {rung!r}")
    for seed in arguments.seeds:
        check_count("--seeds", seed, least=0)
        for rung in arguments.rungs or RUNGS:
            weights = WEIGHTS / f"{rung}-{seed}.safetensors"
            if not weights.is_file():
                command = f"python -m gates2heads train {rung} --set seed={seed}"
                train(read_recipe(rung, [f"seed={seed}"]), weights, command=command)
            row = result(rung, weights)
            store(row)
            print(rung, seed, f"BLEU {row['test']['width 5']['bleu']:.2f}", flush=True)


if __name__ == "__main__":
    main()
