"""All results of the comparison in chapter 10.

    GATES2HEADS_DATA=… python -m studies.ch10.leaderboard             # from the existing runs
    GATES2HEADS_DATA=… python -m studies.ch10.leaderboard --table
    GATES2HEADS_DATA=… python -m studies.ch10.leaderboard --everything

The first reads `studies/ch10/results/translators.json` and the runs' outputs; it takes a minute.
The last first trains every model with the seeds 0, 1 and 2, also the language models of the
captions, and times a training step and the decoding of each model: some hours on one processor.
Existing models are not trained again.

For each model: the outputs of each seed with beam search for every hundredth of the 1,000 test
captions; and if all of its outputs are stored, BLEU of captions of a few lengths, counted in German
words, with the interval that a bootstrap over the captions of this length gives; and how long its
texts are beside the references. The outputs of the runs with beam search, and the counts of BLEU
for each caption, are stored in `leaderboard.json.gz`. It contains ten captions with their
references as examples; of the others, only the number of words.
"""

import sys
from functools import cache

import numpy as np

from gates2heads.book.ch10.board import RUNGS
from gates2heads.book.studies import Study, results_file
from gates2heads.book.written import Written, read_written, store_written
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.significance import bootstrap_interval
from studies.ch03 import language_models
from studies.ch10 import decoding_times, publish_translators, step_times, translators

NAME = "ch10/leaderboard"
CAPTIONS, SHIPPED = "captions", "shipped"
SETTINGS = (CAPTIONS, *RUNGS, SHIPPED)
BINS = ((1, 7), (8, 9), (10, 11), (12, 14), (15, 99))  # German words, first and last
SEEDS = (0, 1, 2)


@cache
def captions() -> tuple[list[str], list[str]]:
    """What is read, and the references."""
    pairs = multi30k("test")
    return [pair.german for pair in pairs], [pair.english for pair in pairs]


@cache
def words() -> np.ndarray:
    """How many words each German caption has: (N,)."""
    return np.array([len(german.split()) for german in captions()[0]])


def inside() -> list[np.ndarray]:
    """Which captions are of each of `BINS`: (N,) bool a length."""
    return [(least <= words()) & (words() <= most) for least, most in BINS]


def score(total: np.ndarray) -> float:
    """BLEU of summed counts."""
    return Bleu().from_statistics(total).score


def by_length(counts: np.ndarray) -> list[dict]:
    """BLEU of the captions of each of `BINS`.

    Args:
        counts: (N, 10), of each caption.
    """
    entries = []
    for here in inside():
        some = counts[here]
        interval = bootstrap_interval(some, score, seed=0)
        entries.append({"bleu": score(some.sum(0)), "low": interval.low, "high": interval.high})
    return entries


def times_as_long(texts: list[str]) -> float:
    """The tokens of all texts, for each of the references."""
    written, wanted = Bleu().statistics(texts, [[text] for text in captions()[1]]).sum(0)[:2]
    return float(written / wanted)


def of_captions() -> dict:
    """The examples, and the lengths of all."""
    german, english = captions()
    return {
        "captions": [
            {"german": german[n], "reference": english[n]}
            for n in range(0, len(german), translators.SHOWN)
        ],
        "words": " ".join(map(str, words())),
        "bins": [[*ends, int(here.sum())] for ends, here in zip(BINS, inside(), strict=True)],
    }


def counted(name: str, texts: list[str]) -> list[dict]:
    """Store texts with their counts, and return BLEU by length."""
    counts = Bleu().statistics(texts, [[text] for text in captions()[1]])
    store_written(NAME, {name: Written(texts, counts)})
    return by_length(counts)


def run(setting: str, seed: int) -> dict:
    """The stored results of a run; nothing is trained."""
    if setting == CAPTIONS:
        return of_captions()
    if setting == SHIPPED:
        shipped = read_written("ch09/systems")["beam"]
        return {
            "translations": shipped.texts[:: translators.SHOWN],
            "by_length": by_length(shipped.bleu),
        }
    rows = translators.study().rows()
    (row,) = (one for one in rows if (one["setting"], one["seed"]) == (setting, seed))
    translations = [one["translation"] for one in row["result"]["translations"]]
    result = {"translations": translations, "by_length": []}
    if not translators.place_of(setting, seed).is_file():
        return result
    greedy, beam = map(list, zip(*translators.read_written(setting, seed), strict=True))
    return result | {
        "by_length": counted(f"{setting} {seed}", beam),
        "times_as_long": {"greedy": times_as_long(greedy), "beam": times_as_long(beam)},
    }


def everything() -> None:
    """Train and measure what the chapter shows, from the captions on."""
    seeds = ["--seeds", *map(str, SEEDS)]
    translators.study().main(seeds)
    Study("ch10/step_times", step_times.run, tuple(RUNGS)).main(seeds)
    Study("ch10/decoding_times", decoding_times.run, tuple(RUNGS)).main(seeds)
    read = [name for name in language_models.SETTINGS if name.startswith("captions-")]
    Study("ch03/language_models", language_models.run, language_models.SETTINGS).main(
        [*read, *seeds]
    )


def main() -> None:
    """Do what the command line asks for."""
    study = Study(NAME, run, SETTINGS)
    if sys.argv[1:] == ["--everything"]:
        everything()
    elif sys.argv[1:]:
        study.main()
        return
    publish_translators.main()
    results_file(NAME, study.folder, suffix=".json.gz").unlink(missing_ok=True)
    for setting in (CAPTIONS, SHIPPED):
        study.store(study.one(setting, 0))
    for row in translators.study().rows():
        study.store(study.one(row["setting"], row["seed"]))


if __name__ == "__main__":
    main()
