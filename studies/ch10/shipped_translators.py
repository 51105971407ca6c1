"""How good is a translator, on captions, on other descriptions, and on what people type?

    GATES2HEADS_DATA=… python -m studies.ch10.shipped_translators translator
    python -m studies.ch10.shipped_translators NAME            # of checkpoints/NAME.safetensors
    python -m studies.ch10.shipped_translators --table

Told of a shipped model, or of one in `checkpoints`, as its recipe searches: BLEU and chrF on the
validation and test captions; chrF on 300 descriptions of training images that no translator wrote,
beside five descriptions of the same image in the other language (one of the English ones is the
caption that the model was trained on); and BLEU on the first 300 test captions as people type them,
once as the model reads them, once without the normalisation of what is typed. Intervals are 95 %
bootstrap intervals over sentences; differences are paired, from the book's model of the same
direction or from the same captions as they are. What was translated is kept in
`checkpoints/translators`, so that an interrupted run goes on.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from gates2heads.accepts.shown import in_line
from gates2heads.book.studies import Study
from gates2heads.data.corpora.multi30k import described_images
from gates2heads.data.tokens.as_typed import without_stop, without_umlauts
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.chrf import Chrf
from gates2heads.metrics.significance import bootstrap_interval, paired_bootstrap
from gates2heads.training.checkpoints import shipped_weights, write_whole
from gates2heads.training.plain_json import read_json
from gates2heads.training.recipes.runs import load, search_of, write_all

SHIPPED = {"German": "translator", "English": "translator_to_german"}  # by what they read
CHECKPOINTS = Path("checkpoints")
TYPED = 300  # test captions that are typed in each unusual way
AT_ONCE = 200  # sentences between two times of writing down what was translated


def odd_blanks(text: str) -> str:
    """A tab before the text, doubled blanks inside, a blank that does not break behind it."""
    return "\t" + text.replace(" ", "  ") + "\u00a0"


UNUSUAL: dict[str, Callable[[str], str]] = {
    "all capitals": str.upper,
    "lower case": str.lower,
    "no final stop": without_stop,
    "ae oe ue ss": without_umlauts,
    "white space": odd_blanks,
}


def weights_of(name: str) -> Path:
    """The file of a model that was trained here, or that ships."""
    path = CHECKPOINTS / f"{name}.safetensors"
    return path if path.is_file() else shipped_weights(name)


def names() -> tuple[str, ...]:
    """What can be evaluated: the released translator, and all weights in `checkpoints`."""
    here = sorted(path.stem for path in CHECKPOINTS.glob("*.safetensors"))
    return tuple(dict.fromkeys([*SHIPPED.values(), *here]))


class Translator:
    """A model that remembers what it has translated, on disk too.

    Args:
        name: of the model.
        folder: where its translations are kept; a file for each weights file.
    """

    def __init__(self, name: str, folder: Path | None = None):
        path = weights_of(name)
        self.name, self.trained = name, load(path)
        self.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        self.path = (folder or CHECKPOINTS / "translators") / f"{self.sha256[:16]}.json.gz"
        self.known = self._kept()

    @property
    def reads(self) -> str:
        """The language that it reads."""
        return self.trained.task.settings["reads"]

    def write(self, texts: Sequence[str]) -> list[str]:
        """A translation of each text, as the recipe searches."""
        model, task, source, target, card = self.trained
        new = sorted({text for text in texts if text not in self.known}, key=len)
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            search = search_of(card["recipe"])
            written = write_all(model, task, source, target, some, **search)
            self.known.update(zip(some, written, strict=True))
            self._keep()
            print(f"{self.name}: {start + len(some)} of {len(new)}", flush=True)
        return [self.known[text] for text in texts]

    def _kept(self) -> dict[str, str]:
        if not self.path.is_file():
            return {}
        what = f"{in_line(self.path)} must hold translations"
        try:
            kept = read_json(gzip.decompress(self.path.read_bytes()), what=what)
        except (OSError, EOFError) as error:
            raise ValueError(f"{what}; delete it, and they are made again: {error}") from error
        if not (isinstance(kept, dict) and all(isinstance(one, str) for one in kept.values())):
            raise ValueError(f"{what}; delete it, and they are made again")
        return kept

    def _keep(self) -> None:
        content = gzip.compress(json.dumps(self.known, ensure_ascii=False).encode(), mtime=0)
        write_whole(self.path, lambda file: file.write(content))


class Scores:
    """Scores of translations beside references, with intervals.

    Args:
        references: a list of them for each sentence.
        seed: of the bootstrap.
    """

    def __init__(self, references: Sequence[Sequence[str]], seed: int):
        self.references, self.seed = references, seed

    def of(self, written: Sequence[str], other: Sequence[str] | None = None) -> dict:
        """Each score as [value, low, high]; under "over", its gain over `other`."""
        results, over = {"sentences": len(written)}, {}
        for name, metric in {"bleu": Bleu(), "chrf": Chrf()}.items():

            def score(total, metric=metric):
                return metric.from_statistics(total).score

            counts = metric.statistics(written, self.references)
            if other is None:
                interval = bootstrap_interval(counts, score, seed=self.seed)
            else:
                rival = metric.statistics(other, self.references)
                gain = paired_bootstrap(counts, rival, score, seed=self.seed)
                interval = gain.interval_a
                over[name] = rounded([gain.difference, *gain.interval_difference])
            results[name] = rounded([score(counts.sum(axis=0)), *interval])
        return {**results, "over": over} if over else results


def rounded(values: Sequence[float]) -> list[float]:
    """As many digits as another machine would find too."""
    return [round(float(value), 2) for value in values]


@cache
def shipped(reads: str) -> Translator:
    """The book's translator from a language."""
    return Translator(SHIPPED[reads])


def described(reads: str) -> tuple[list[str], list[list[str]]]:
    """One description of each held-out image, and five in the other language."""
    texts, references = [], []
    for place, image in enumerate(described_images()):
        sides = (image.german, image.english)
        read, wanted = sides if reads == "German" else sides[::-1]
        texts.append(read[place % len(read)])  # the first of five are the shortest or longest
        references.append(list(wanted))
    return texts, references


def run(name: str, seed: int) -> dict:
    """Judge one model; the seed is that of the bootstrap."""
    judged = Translator(name)
    rival = None if name == SHIPPED[judged.reads] else shipped(judged.reads)
    sets = {}
    for split in ("validation", "test"):
        texts, wanted = map(list, zip(*judged.trained.task.pairs(split), strict=True))
        sets[split] = texts, [[text] for text in wanted]
    sets["descriptions"] = described(judged.reads)
    results = {}
    for part, (texts, references) in sets.items():
        other = rival and rival.write(texts)
        results[part] = Scores(references, seed).of(judged.write(texts), other)
    return {
        "sha256": judged.sha256[:16],
        "reads": judged.reads,
        "recipe": judged.trained.card["recipe"],
        "bleu_validation": results["validation"]["bleu"][0],
        "bleu_test": results["test"]["bleu"][0],
        "chrf_descriptions": results["descriptions"]["chrf"][0],
        **results,
        "unusual": unusual(judged, *sets["test"], seed),
    }


def unusual(judged: Translator, texts: list[str], references: list, seed: int) -> dict:
    """Scores of the first captions, typed in each unusual way, beside the same as they are."""
    texts, scores = texts[:TYPED], Scores(references[:TYPED], seed)
    plain = judged.write(texts)
    results = {"as they are": scores.of(plain)}
    for kind, habit in UNUSUAL.items():
        typed = [habit(text) for text in texts]
        tidied = [judged.trained.task.typed(text) for text in typed]
        results[kind] = {
            "normalised": scores.of(judged.write(tidied), plain),
            "as typed": scores.of(judged.write(typed), plain) if typed != tidied else None,
        }
    return results


if __name__ == "__main__":
    Study("ch10/shipped_translators", run, names()).main()
