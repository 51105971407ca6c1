"""Which words answer an analogy if its own words are allowed? For section 2.8.

    python -m studies.ch02.analogies --seeds 0 1 2
    python -m studies.ch02.analogies --table

A setting is one of the three models, trained on the captions or on `descriptions` as in
`studies/ch02/word_vectors.py`. It answers the analogies of the second half of the test set.
`answered_by` has the shares of the questions for which a, b, c, the correct word or another word is
ranked first; `settings` records how the model was trained. Needs the same data as that study.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Sequence

import torch

from gates2heads.book.studies import Study
from gates2heads.data.corpora.word_tests import analogies
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words.glove import train_glove
from gates2heads.models.words.outputs import NegativeSampling
from gates2heads.models.words.training import train_negative_sampling
from studies.ch02 import word_vectors

WHOSE = ("a", "b", "c", "right", "another")


def defaults_of(function: Callable, *names: str) -> dict:
    """The default values of some parameters of a function."""
    parameters = inspect.signature(function).parameters
    return {name: parameters[name].default for name in names}


def settings_of(setting: str) -> dict:
    """How `word_vectors.train` trains the model of a setting."""
    name, model = word_vectors.corpus_and_model(setting)
    chosen = word_vectors.choices(name, model)
    settings = {"width": word_vectors.WIDTH, "least_often": word_vectors.LEAST_OFTEN}
    settings |= {key: chosen[key] for key in ("epochs", "window")}
    if model == "glove":
        training = defaults_of(train_glove, "learning_rate", "batch_size")
        settings |= {"ceiling": word_vectors.CEILING} | training
    else:
        noise = defaults_of(NegativeSampling.__init__, "negatives", "power")
        training = defaults_of(train_negative_sampling, "learning_rate", "batch_size")
        settings |= {"threshold": word_vectors.THRESHOLD} | noise | training
    settings["learning_rate"] *= chosen["rate"]
    return settings | ({"batch_size": chosen["batch_size"]} if "batch_size" in chosen else {})


def answered_by(vectors: WordVectors, questions: Sequence[Sequence[str]]) -> dict[str, float]:
    """Which word is ranked first, as shares of the questions whose four words are all known."""
    known = [row[:4] for row in questions if all(word in vectors for word in row[:4])]
    found = Counter()
    for a, b, c, d in known:
        ((word, _),) = vectors.analogy(a, b, c, exclude=False)
        found[{a: "a", b: "b", c: "c", d: "right"}.get(word, "another")] += 1
    return {who: found[who] / len(known) for who in WHOSE}


def run(setting: str, seed: int) -> dict:
    """Train one model and evaluate it."""
    name, model = word_vectors.corpus_and_model(setting)
    vocabulary, _ = word_vectors.corpus(name)
    vectors = word_vectors.compared(vocabulary, word_vectors.train(name, model, "", seed)[0])
    shares = answered_by(vectors, analogies()[1::2])
    return {"settings": settings_of(setting), "answered_by": shares}


STUDY = Study("ch02/analogies", run, word_vectors.WITH_DESCRIPTIONS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
