"""Is the distilled translator better than the one trained on captions alone, and why?

    GATES2HEADS_DATA=… python -m studies.ch10.distilled_translator
    python -m studies.ch10.distilled_translator --table

Both translators have the same architecture and tokenizer. `translator` was trained on the captions,
`translator_distilled` also on descriptions of the same photographs, with an ensemble as teacher
(`shipping/distilled_translator.py`). Each translates with the search of its recipe. A setting is a
question:

- `seen` counts the test captions that also occur in the training text of each translator, compared
  without capitals and punctuation.
- `captions` scores both on all test captions and on subsets in which the gain could vanish:
  captions that share no five consecutive words with the descriptions in either language, captions
  with and without rare words, short and long ones. No subset depends on a translation.
- `search` scores both on the validation captions, on which the better of two students and its
  length normalisation were chosen: with the search of their recipes, with greedy search, and with
  the same length normalisation. `search, test` does the same on the test captions, on which nothing
  was chosen.
- `descriptions` scores both on 300 descriptions of training images that the distilled translator
  was not trained on, with five English descriptions of the same image as references.

Intervals are 95 % bootstrap intervals over sentences; differences are paired.
"""

import string
from collections import Counter
from collections.abc import Sequence
from functools import cache

from gates2heads.book.studies import Study
from gates2heads.data.corpora.multi30k import descriptions, multi30k
from gates2heads.decoding.lengths import Power
from gates2heads.training.recipes.runs import write_all
from studies.ch10.shipped_translators import Scores, Translator, described

PLAIN, DISTILLED = "translator", "translator_distilled"
SHARED = 5  # consecutive words that an unfamiliar caption does not share with any description
RARE = 5  # a rare word occurs less often in the German training captions
LONG = 14  # words of a long German caption, at least; of a short one, at most
SHORT = 9
SEARCHES = {"search": "validation", "search, test": "test"}  # settings and their captions
POWERS = (0.8, 1.0, 1.2)  # of the length normalisation
UNPUNCTUATED = str.maketrans("", "", string.punctuation + "„“”‚‘’–—…")


def key(text: str) -> str:
    """What two texts share that differ only in capitals, punctuation and white space."""
    return " ".join(text.lower().translate(UNPUNCTUATED).split())


def occurring(texts: Sequence[str], known: Sequence[str]) -> list[bool]:
    """Which texts are known, apart from capitals, punctuation and white space."""
    keys = {key(text) for text in known}
    return [key(text) in keys for text in texts]


def sequences(text: str) -> set[tuple[str, ...]]:
    """All sequences of `SHARED` consecutive words of a text; the whole text if it is shorter."""
    words = key(text).split()
    starts = range(max(len(words) - SHARED, 0) + 1)
    return {tuple(words[start : start + SHARED]) for start in starts}


@cache
def captions(split: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The German and the English captions of a split."""
    german, english = zip(*multi30k(split), strict=True)
    return german, english


def seen() -> dict:
    """How many test captions occur in the training text, and the sizes of that text."""
    sides = dict(
        zip(
            ("German", "English"),
            zip(captions("train"), captions("test"), strict=True),
            strict=True,
        )
    )
    counts = {}
    for language, (train, test) in sides.items():
        alone = descriptions(language)
        counts[language] = {
            "captions": len(train),
            "descriptions": len(alone),
            "in captions": sum(occurring(test, train)),
            "in descriptions": sum(occurring(test, alone)),
            "in either": sum(occurring(test, [*train, *alone])),
        }
    return counts


def subsets() -> dict[str, list[bool]]:
    """Which test captions belong to each subset; none depends on a translation."""
    train, test = captions("train"), captions("test")
    familiar = [False] * len(test[0])
    for side, language in enumerate(("German", "English")):
        known = set().union(*map(sequences, descriptions(language)))
        familiar = [
            one or not known.isdisjoint(sequences(text))
            for one, text in zip(familiar, test[side], strict=True)
        ]
    counts = Counter(word for text in train[0] for word in key(text).split())
    rare = [any(counts[word] < RARE for word in key(text).split()) for text in test[0]]
    lengths = [len(key(text).split()) for text in test[0]]
    return {
        "all": [True] * len(familiar),
        "familiar": familiar,
        "unfamiliar": [not one for one in familiar],
        "with a rare word": rare,
        "without a rare word": [not one for one in rare],
        "short": [length <= SHORT for length in lengths],
        "long": [length >= LONG for length in lengths],
    }


def run(setting: str, seed: int) -> dict:
    """Answer one question; the seed is that of the bootstrap."""
    if setting == "seen":
        return seen()
    plain, distilled = Translator(PLAIN), Translator(DISTILLED)
    result = {"sha256": {one.name: one.sha256[:16] for one in (plain, distilled)}}
    if setting == "descriptions":
        texts, references = described("German")
        return result | compared(plain, distilled, texts, references, seed)
    if setting in SEARCHES:
        return result | searched(plain, distilled, SEARCHES[setting], seed)
    german, english = captions("test")
    for name, chosen in subsets().items():
        some = [place for place, one in enumerate(chosen) if one]
        texts, references = [german[place] for place in some], [[english[place]] for place in some]
        result[name] = compared(plain, distilled, texts, references, seed)
    return result


def compared(
    plain: Translator, distilled: Translator, texts: Sequence[str], references: list, seed: int
) -> dict:
    """Scores of both translators as their recipes search, and what the distilled one gains."""
    return scored(plain.write(texts), distilled.write(texts), references, seed)


def searched(plain: Translator, distilled: Translator, split: str, seed: int) -> dict:
    """Scores of both translators on the captions of a split, with several searches."""
    texts, english = captions(split)
    references = [[text] for text in english]
    result = {"own": compared(plain, distilled, texts, references, seed)}
    searches: dict[str, dict] = {"greedy": {"width": 1}}
    searches |= {f"power {one}": {"width": 5, "length_rule": Power(one)} for one in POWERS}
    for name, search in searches.items():
        written = [write_all(*one.trained[:4], texts, **search) for one in (plain, distilled)]
        result[name] = scored(*written, references, seed)
    return result


def scored(
    other: Sequence[str], written: Sequence[str], references: Sequence[Sequence[str]], seed: int
) -> dict:
    """Scores of two translators, and what the second gains."""
    scores = Scores(references, seed)
    result = scores.of(written, other)
    gain = result.pop("over")
    return {
        "sentences": result.pop("sentences"),
        PLAIN: {name: value for name, value in scores.of(other).items() if name != "sentences"},
        DISTILLED: result,
        "gain": gain,
    }


def study() -> Study:
    """The study, for its tests too."""
    return Study("ch10/distilled_translator", run, ["captions", *SEARCHES, "descriptions", "seen"])


if __name__ == "__main__":
    study().main()
