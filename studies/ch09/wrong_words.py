"""The synonym or the wrong word: which of the two a score prefers. Section 9.5 shows the results.

    python -m studies.ch09.wrong_words
    python -m studies.ch09.wrong_words --table

One word of an output of beam search is replaced by a synonym and by a word with another meaning;
the intact sentence is the reference. `synonym`, `equal` and `wrong` count the sentences by which
of the two scores higher; `words` are those that are replaced, and `words_synonym` those of them for
which the synonym scores higher in most of their sentences. The outputs are stored with the book, so
that nothing else is needed.
"""

import math
import re
from collections.abc import Callable
from functools import cache

import torch

from gates2heads.book.ch09.damage import DAMAGES, can_be_exchanged, damaged, exchanged_word
from gates2heads.book.studies import Study
from gates2heads.book.written import read_written
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.sentences import cut
from gates2heads.metrics.words.embedding_score import embedding_score

SYNONYM, WRONG = list(DAMAGES)[:2]
PEOPLE = {"man", "men", "woman", "women"}
VECTORS = {"skip-gram": "words_skip_gram", "CBOW": "words_cbow", "GloVe": "words_glove"}
CHRF = "chrF"
OTHERS, GIRL = "chrF, without man and woman", "chrF, man to girl"
SETTINGS = (CHRF, OTHERS, GIRL, *VECTORS)


@cache
def sentences() -> tuple[str, ...]:
    """The outputs of beam search that have such a word."""
    texts = read_written("ch09/systems")["beam"].texts
    return tuple(text for text in texts if can_be_exchanged(text))


def with_girl(text: str) -> str:
    """The first “man” becomes “girl”, a wrong word that shares no letter with it."""
    return re.sub(r"\bman\b", "girl", text, count=1)


def scored_by(setting: str) -> Callable[[str, str], float]:
    """The score of a hypothesis with one reference."""
    if setting not in VECTORS:
        return lambda text, whole: sentence_chrf(text, whole).score
    vectors = shipped(VECTORS[setting]).model.compared()

    def of(text):
        known = [word for word in cut(text, "rouge") if word in vectors]
        return torch.stack([vectors.unit_vector(word) for word in known])

    return lambda text, whole: embedding_score(of(text), of(whole)).f_measure


def run(setting: str, seed: int) -> dict:
    """Count which of the two words a score prefers; the seed changes nothing."""
    texts = sentences()
    if setting == OTHERS:
        texts = [text for text in texts if exchanged_word(text) not in PEOPLE]
    if setting == GIRL:
        texts = [text for text in texts if exchanged_word(text) == "man"]
    wrong = with_girl if setting == GIRL else lambda text: damaged(text, WRONG)
    score, ahead = scored_by(setting), {}
    for text in texts:
        pair = score(damaged(text, SYNONYM), text), score(wrong(text), text)
        side = 0 if math.isclose(*pair) else math.copysign(1, pair[0] - pair[1])
        ahead.setdefault(exchanged_word(text), []).append(side)
    every = [side for sides in ahead.values() for side in sides]
    return {
        "sentences": len(every),
        "synonym": every.count(1),
        "equal": every.count(0),
        "wrong": every.count(-1),
        "man": len(ahead.get("man", [])),
        "words": len(ahead),
        "words_synonym": sum(sides.count(1) > len(sides) / 2 for sides in ahead.values()),
    }


if __name__ == "__main__":
    Study("ch09/wrong_words", run, SETTINGS).main()
