"""The comparison: translation models of the same captions, from one vector to attention alone.

    python -m studies.ch10.translators captions-gru --seeds 0 1 2
    python -m studies.ch10.translators                            # every model, seed 0
    python -m studies.ch10.translators --table                    # what is stored, as Markdown
    python -m studies.ch10.translators captions-gru --again       # measure once more

Each run is `python -m gates2heads train RECIPE --set seed=N`. Parameters are saved in
`checkpoints/ladder`; existing ones are not trained again, and an interrupted run is resumed. The
results are added to `studies/ch10/results/translators.json`, with the training time in seconds and
the machine. The model's outputs for every test caption, with greedy and beam search, are saved in
`studies/ch10/results/translators/RECIPE-N.json.gz`. The results contain ten captions as examples;
the saved outputs contain no captions.
"""

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from gates2heads.book.ch10.board import RUNGS
from gates2heads.book.studies import Study, spread
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.models.translation.forcing import unroll
from gates2heads.training.files import write_whole
from gates2heads.training.losses import cross_entropy, sequence_loss
from gates2heads.training.recipes.recipe import read_recipe
from gates2heads.training.recipes.runs import load, loss_of, search_of, train, write_all

RESULTS = Path(__file__).with_name("results")
STUDIES = Path(__file__).parents[1]
WEIGHTS = Path("checkpoints/ladder")
WIDTHS = (1, 5)
# What teaching material elsewhere reports for the same captions, on words in lower case, after ten
# epochs (the Transformer with 9.0 million parameters): the baseline of each model.
PUBLISHED = {
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


def measure(weights: Path) -> tuple[dict, list[list[str]]]:
    """The results of one trained model, and its outputs on the test set.

    Returns:
        the result, and for each caption the outputs with each of `WIDTHS`.
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
    result = {
        **{name: card[name] for name in ("command", "parameters", "seconds", "machine")},
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
    return result, [list(each) for each in zip(*written, strict=True)]


def place_of(recipe: str, seed: int) -> Path:
    """The file with the outputs of a run."""
    return RESULTS / "translators" / f"{recipe}-{seed}.json.gz"


def store_written(recipe: str, seed: int, written: Sequence[Sequence[str]]) -> None:
    """Store a model's outputs: for each caption, in the order of the test set, one text a width."""
    place = place_of(recipe, seed)
    text = json.dumps(written, ensure_ascii=False, indent=0)
    # Without the time of day: the same texts are the same file.
    packed = gzip.compress(text.encode(), mtime=0)
    write_whole(place, lambda file: file.write(packed))


def read_written(recipe: str, seed: int) -> list[list[str]]:
    """The outputs of a run for each caption of the test set: one for each of `WIDTHS`."""
    return json.loads(gzip.decompress(place_of(recipe, seed).read_bytes()))


def table(rows: Sequence[Mapping]) -> str:
    """The stored results, one line per model, as Markdown."""
    heads = (
        "recipe", "seeds", "parameters", "minutes", "perplexity, forced", "free-running",
        "BLEU, greedy", "BLEU, beam 5", "lower case", "published", "chrF",
    )  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for rung in dict.fromkeys(row["setting"] for row in rows):
        runs = [row for row in rows if row["setting"] == rung]
        results = [row["result"] for row in runs]
        scores = {width: [run["test"][f"width {width}"] for run in results] for width in WIDTHS}
        cells = (
            rung,
            " ".join(str(run["seed"]) for run in runs),
            f"{results[0]['parameters'] / 1e6:.1f} M",
            spread([run["seconds"] / 60 for run in runs], 0),
            spread([run["perplexity"] for run in results]),
            spread([run["perplexity_free_running"] for run in results], 0),
            spread([one["bleu"] for one in scores[1]]),
            spread([one["bleu"] for one in scores[5]]),
            spread([one["bleu_lower_case"] for one in scores[5]]),
            PUBLISHED.get(rung, "–"),
            spread([one["chrf"] for one in scores[5]]),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def run(recipe: str, seed: int) -> dict:
    """Train missing models, store their outputs, and evaluate them."""
    weights = WEIGHTS / f"{recipe}-{seed}.safetensors"
    if not weights.is_file():
        command = f"python -m gates2heads train {recipe} --set seed={seed}"
        train(read_recipe(recipe, [f"seed={seed}"]), weights, command=command)
    result, written = measure(weights)
    store_written(recipe, seed, written)
    return result


class Ladder(Study):
    """A study whose rows state the time and the machine of training, not of evaluation."""

    def one(self, setting: str, seed: int) -> dict:
        """Run one recipe with one seed; return its row."""
        row = super().one(setting, seed)
        return {**row, **{name: row["result"].pop(name) for name in ("seconds", "machine")}}

    def table(self) -> str:
        """The stored results, one line per model, as Markdown."""
        return table(self.rows())


def study() -> Ladder:
    """The comparison, and the paths of its results."""
    return Ladder("ch10/translators", run, list(RUNGS), STUDIES)


if __name__ == "__main__":
    study().main()
