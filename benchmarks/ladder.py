"""The ladder: translators of the same captions, from one vector to nothing but attention.

    python benchmarks/ladder.py captions-gru --seeds 0 1 2
    python benchmarks/ladder.py                                  # every rung, seed 0
    python benchmarks/ladder.py --table                          # what is stored, as Markdown

Each run is `python -m gates2heads train RECIPE --set seed=N`. Weights go to checkpoints/ladder;
what is there is not trained again, and an interrupted run goes on. The results are added to
benchmarks/results/ladder.json; what the model wrote for every caption of the test set, greedily and
with the beam, goes to benchmarks/results/ladder/RECIPE-N.json.gz. Of others' texts, neither holds
more than ten captions as examples.
"""

import argparse
import gzip
import json
import math
from collections.abc import Sequence
from pathlib import Path

import torch

from gates2heads.checks.values import check_count
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.models.translation.forcing import unroll
from gates2heads.training.files import write_whole
from gates2heads.training.losses import cross_entropy, sequence_loss
from gates2heads.training.recipes.recipe import RECIPES, read_recipe
from gates2heads.training.recipes.runs import load, loss_of, search_of, train, write_all
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


def result(recipe: str, weights: Path) -> tuple[dict, list[list[str]]]:
    """All that is told of one trained model, and what it wrote of the test set.

    Returns:
        the row, and for each caption what it wrote with each of `WIDTHS`.
    """
    trained = load(weights)
    model, task, source, target, card = trained
    pairs = task.pairs("test")
    texts, wanted = map(list, zip(*pairs, strict=True))
    forced, free = (loss_of(trained, pairs, loss) for loss in (sequence_loss, free_running_loss))
    searches, written = {}, []
    for width in WIDTHS:
        search = {**search_of(card["recipe"]), "width": width}
        written.append(write_all(model, task, source, target, texts, **search))
        searches[f"width {width}"] = {**task.score(written[-1], wanted), "loss": forced}
    row = {
        "recipe": recipe,
        **{name: card[name] for name in ("seed", "command", "parameters", "seconds", "machine")},
        "validation": dict(zip(card["evaluated_at"], card["evaluations"], strict=True)),
        "perplexity": math.exp(forced),
        "perplexity_free_running": math.exp(free),
        "test": searches,
        "signature": corpus_bleu(wanted, [[text] for text in wanted]).signature,
        "translations": [
            {"german": texts[n], "reference": wanted[n], "translation": written[-1][n]}
            for n in range(0, len(texts), SHOWN)
        ],
    }
    return row, [list(each) for each in zip(*written, strict=True)]


def place_of(recipe: str, seed: int) -> Path:
    """The file of what a run wrote."""
    return RESULTS.with_suffix("") / f"{recipe}-{seed}.json.gz"


def store_written(recipe: str, seed: int, written: Sequence[Sequence[str]]) -> None:
    """Keep what a model wrote: for each caption, in the order of the test set, one text a width."""
    place = place_of(recipe, seed)
    text = json.dumps(written, ensure_ascii=False, indent=0)
    # Without the time of day: the same texts are the same file.
    packed = gzip.compress(text.encode(), mtime=0)
    write_whole(place, lambda file: file.write(packed))


def read_written(recipe: str, seed: int) -> list[list[str]]:
    """What a run wrote for each caption of the test set: one text for each of `WIDTHS`."""
    return json.loads(gzip.decompress(place_of(recipe, seed).read_bytes()))


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
            " ".join(str(run["seed"]) for run in runs),
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


def main(asked: Sequence[str] | None = None) -> None:
    """Train and measure the rungs that were asked for, on the command line unless told here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rungs", nargs="*", metavar="RECIPE", help=", ".join(RUNGS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--table", action="store_true", help="print what is stored, train nothing")
    arguments = parser.parse_args(asked)
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
            row, written = result(rung, weights)
            store_written(rung, seed, written)
            store(row)
            print(rung, seed, f"BLEU {row['test']['width 5']['bleu']:.2f}", flush=True)


if __name__ == "__main__":
    main()
