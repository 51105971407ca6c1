"""Do networks apply what they learn about one noun to other nouns? For chapter 3.

    python -m studies.ch03.two_verbs
    python -m studies.ch03.two_verbs gru transformer feed-forward-4 --seeds 0 1
    python -m studies.ch03.two_verbs "feed-forward-4, rate 0.008" "gru, rate 0.002" --seeds 0 1
    python -m studies.ch03.two_verbs --table

A setting is a model. "… of the view" are the released models; the others are trained as in
`language_models.py`, three of them with a different peak learning rate.

The model reads “A brown …” with an animal or a vehicle, and assigns probabilities to two verbs,
such as “runs” and “drives”. Its preference is the number of bits by which the first verb is more
probable. Only nouns are included that neither verb follows in the training captions, so that an
n-gram model has no count of the pair. `difference` is the preference after animals minus that after
vehicles, in bits, averaged over fifteen pairs of verbs; `pairs` has the values of each pair. The
vehicles are the control: without them, a verb that is frequent after all nouns would look like
knowledge about animals. Fifteen pairs are used because a single pair could be chosen to favour a
model.
"""

from functools import cache
from statistics import fmean

import torch

from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.models.language.base import LanguageModel
from gates2heads.watching.next_token import foresee
from studies.ch03.language_models import Corpus, read, train

SHIPPED = {
    "kneser-ney of the view": "captions_ngram",
    "gru of the view": "captions_gru",
    "transformer of the view": "captions_transformer",
}
TRAINED = ("gru", "transformer", "feed-forward-4")
OTHER_RATES = {
    "feed-forward-4, rate 0.008": ("feed-forward-4", 8e-3),
    "gru, rate 0.002": ("gru", 2e-3),
    "transformer, rate 0.001": ("transformer", 1e-3),
}
SETTINGS = (*SHIPPED, *TRAINED, *OTHER_RATES)
NOUNS = {
    "animals": "animal bear bird camel cat cow dog dogs duck elephant fish horse pig pony puppy "
    "sheep",
    "vehicles": "airplane bicycle bike boat bus cab car cart motorcycle plane scooter ship taxi "
    "tractor train truck van vehicle wagon",
}
VERBS = [
    *((verb, "drives") for verb in ("runs", "jumps", "sits", "stands", "walks")),
    *((verb, "drives") for verb in ("plays", "eats", "looks")),
    *((f"is {verb}", "is driving") for verb in ("running", "jumping", "eating")),
    *((f"is {verb}", "is parked") for verb in ("sleeping", "walking", "eating", "running")),
]


def make(setting: str, corpus: Corpus, seed: int) -> LanguageModel:
    """Load or train a model."""
    if setting in SHIPPED:
        return shipped(SHIPPED[setting]).model
    model, rate = OTHER_RATES.get(setting, (setting, None))
    return train("captions", model, corpus, seed, rate=rate)[0]


@cache
def in_training(count: int) -> frozenset[tuple[int, ...]]:
    """Every sequence of so many tokens in the training captions."""
    texts = read("captions").tokens["train"]
    return frozenset(
        tuple(text[at : at + count]) for text in texts for at in range(len(text) - count + 1)
    )


def is_unseen(noun: str, verb: str) -> bool:
    """Whether a noun is never followed by a verb in the training captions."""
    tokens = read("captions").tokenizer.encode(f"A {noun} {verb}", eos=False)[1:]
    if len(tokens) != 1 + len(verb.split()):
        raise ValueError(f"noun and verb must be tokens, got {noun!r} and {verb!r}")
    return tuple(tokens) not in in_training(len(tokens))


def preference(model: LanguageModel, noun: str, verbs: tuple[str, str], corpus: Corpus) -> float:
    """By how many bits the first verb is more probable than the second after “A brown noun”."""
    first, second = (
        foresee(model, f"A brown {noun} {verb}", corpus.tokenizer).bits[-1].item() for verb in verbs
    )
    return second - first


def run(setting: str, seed: int) -> dict:
    """Train or load one model; compare its preferences after animals and after vehicles."""
    corpus = read("captions")
    model = make(setting, corpus, seed)
    found = {}
    for verbs in VERBS:
        kinds = {
            kind: [
                preference(model, noun, verbs, corpus)
                for noun in nouns.split()
                if all(is_unseen(noun, verb) for verb in verbs)
            ]
            for kind, nouns in NOUNS.items()
        }
        found[" / ".join(verbs)] = {
            **{kind: fmean(values) for kind, values in kinds.items()},
            **{f"number_of_{kind}": len(values) for kind, values in kinds.items()},
        }
    gaps = [one["animals"] - one["vehicles"] for one in found.values()]
    return {
        "difference": fmean(gaps),
        "smallest": min(gaps),
        "largest": max(gaps),
        "positive": sum(gap > 1e-6 for gap in gaps),
        "pairs": found,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/two_verbs", run, SETTINGS).main()
