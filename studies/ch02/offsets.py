"""Why is c the nearest word to b − a + c: is the offset b − a too short, or its direction wrong?

    python -m studies.ch02.offsets
    python -m studies.ch02.offsets --table

The answer d to an analogy would be exact if the offset b − a were equal to d − c. A setting is one
of the three models of the opening view of chapter 2, or vectors counted as in `evaluation.py`.
Evaluated are the analogies of the second half of the test set that the vocabulary covers. No model
is trained.

`length` and `needed_length` are the mean lengths of b − a and d − c, `median_ratio` the median of
their ratio, and `cosine` the mean cosine between them. `nearest` has the shares of the questions
for which a, b, c or d is the nearest word (a, b and c allowed) after one of four offsets is added
to c: b − a as it is, twice b − a, b − a with the length of d − c, and d − c with the length of
b − a. Needs the folder GATES2HEADS_DATA, or downloads the word tests; for the counts also Multi30k.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from gates2heads.book.studies import Study
from gates2heads.data.corpora.word_tests import analogies
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import differences

MODELS = tuple(differences.SHIPPED)
COUNTED = ("ppmi", "svd")


def offsets(vectors: WordVectors, questions: Sequence[Sequence[str]]) -> dict:
    """How b − a and d − c differ, and which word is nearest to c plus an offset."""
    known = [row[:4] for row in questions if all(word in vectors for word in row[:4])]
    numbers = torch.tensor([[vectors.index[word] for word in row] for row in known])
    a, b, c, d = vectors.unit[numbers].unbind(1)  # (N, D) each
    given, needed = b - a, d - c
    long, wanted = (one.norm(dim=1, keepdim=True) for one in (given, needed))
    goals = {
        "given": given,
        "twice": 2 * given,
        "length of d − c": F.normalize(given, dim=1) * wanted,
        "direction of d − c": F.normalize(needed, dim=1) * long,
    }
    nearest = {}
    for name, offset in goals.items():
        found = ((c + offset) @ vectors.unit.T).argmax(1, keepdim=True)
        shares = (found == numbers).double().mean(0).tolist()
        nearest[name] = dict(zip(("a", "b", "c", "right"), shares, strict=True))
    return {
        "questions": len(known),
        "length": float(long.mean()),
        "needed_length": float(wanted.mean()),
        "median_ratio": float((long / wanted).median()),
        "cosine": float(F.cosine_similarity(given, needed).mean()),
        "nearest": nearest,
    }


def run(setting: str, seed: int) -> dict:
    """Measure the offsets of counted vectors, or of a stored model (trained with seed 0)."""
    return offsets(differences.vectors_of(setting), analogies()[1::2])


STUDY = Study("ch02/offsets", run, (*MODELS, *COUNTED))

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
