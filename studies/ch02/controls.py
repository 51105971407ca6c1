"""How much of chapter 2's results do simpler methods reach? For sections 2.8 and 2.9.

    python -m studies.ch02.controls
    python -m studies.ch02.controls --table

A setting is a kind of vectors, or `spelling`. The analogies of the second half of the test set are
answered by the word nearest to b − a + c, to c, to b + c, and to b' − a' + c, where (a', b') is a
pair of another section, chosen at random. `answered` and `family` are the shares of correct answers
for all questions and for those about families. `gain` and `family_gain` are the differences between
b − a + c and c alone; `behind` is the result of skip-gram minus that of these vectors. Many
questions contain the same pair of words and are therefore not independent, so the 95 % bootstrap
intervals resample the pairs (c, d) together with all their questions.

`antonyms` and `synonyms` count the pairs whose second word is among the ten nearest to the first.
The synonyms are the pairs of SimLex-999 with a score of 8 or more.

`spelling` uses no vectors. It answers an analogy by replacing the ending of c in the same way as
the ending that leads from a to b. For the 500 words that `subword.py` removes, it chooses the known
word with the largest overlap of n-grams, or with the longest common beginning; `forms` are the
shares of words for which that word has the same lemma. `rho` is the rank correlation between the
overlap and human scores of pairs. No model is trained. Needs the folder GATES2HEADS_DATA, or
downloads Multi30k and the word tests.
"""

import random
from collections.abc import Sequence
from functools import cache
from itertools import takewhile

import numpy as np
import torch

from gates2heads.book.studies import Study
from gates2heads.data.corpora.word_tests import Analogy, analogies, word_similarity
from gates2heads.metrics.words.vectors import WordVectors, rank_correlation
from gates2heads.models.words.subword import character_ngrams
from studies.ch02 import differences, subword
from studies.ch02.word_forms import families

VECTORS = ("ppmi", "svd", *differences.SHIPPED)
SPELLING = "spelling"
SAMPLES, SYNONYMS, NEAR = 2000, 8, 10
ANTONYMS = """
    good bad, big small, hot cold, old young, fast slow, black white, left right, front back,
    top bottom, up down, high low, long short, wet dry, happy sad, male female, true false,
    open closed, empty full, light dark, day night, first last, inside outside, new old, start end,
    minimum maximum, positive negative, early late, strong weak
"""


def covered(vectors: WordVectors) -> list[Analogy]:
    """The questions of the second half whose words are all known."""
    return [row for row in analogies()[1::2] if all(word in vectors for word in row[:4])]


def answered(vectors: WordVectors, questions: Sequence[Analogy]) -> dict[str, np.ndarray]:
    """Of each question, whether its answer is found in each way: 1 or 0."""
    draw = random.Random(0)
    found = {name: [] for name in ("b − a + c", "c", "b + c", "other pair")}
    for row in questions:
        a, b, c = (vectors.unit[vectors.index[word]] for word in row[:3])
        other = draw.choice([one for one in questions if one.section != row.section])
        far_a, far_b = (vectors.unit[vectors.index[word]] for word in other[:2])
        queries = (b - a + c, c, b + c, far_b - far_a + c)
        for name, query in zip(found, queries, strict=True):
            scores = vectors.unit @ query
            without = [*row[:3], *(other[:2] if name == "other pair" else ())]
            scores[[vectors.index[word] for word in without if word != row.d]] = -torch.inf
            found[name].append(int(scores.argmax()) == vectors.index[row.d])
    return {name: np.array(some, float) for name, some in found.items()}


def interval(values: np.ndarray, groups: Sequence) -> list[float]:
    """The 95 % bootstrap interval of a mean, whose values are sampled by groups."""
    number = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    place = [number[group] for group in groups]
    sums, sizes = np.bincount(place, weights=values), np.bincount(place)
    taken = np.random.default_rng(0).integers(0, len(sums), (SAMPLES, len(sums)))
    means = sums[taken].sum(1) / sizes[taken].sum(1)
    return np.percentile(means, [2.5, 97.5]).tolist()


def among_nearest(vectors: WordVectors, pairs: Sequence[Sequence[str]]) -> dict[str, int]:
    """For how many pairs of known words the second is among the ten nearest to the first."""
    known = [pair for pair in pairs if pair[0] in vectors and pair[1] in vectors]
    near = [[word for word, _ in vectors.nearest(one, NEAR)] for one, *_ in known]
    hits = sum(pair[1] in words for pair, words in zip(known, near, strict=True))
    return {"pairs": len(known), "near": hits}


@cache
def answers_of(setting: str) -> dict[str, np.ndarray]:
    """The answers of one kind of vectors."""
    vectors = differences.vectors_of(setting)
    return answered(vectors, covered(vectors))


def of_vectors(setting: str) -> dict:
    """The results of one kind of vectors."""
    vectors = differences.vectors_of(setting)
    questions, own = covered(vectors), answers_of(setting)
    pairs = [row[2:4] for row in questions]
    gain = own["b − a + c"] - own["c"]
    behind = answers_of(differences.REFERENCE)["b − a + c"] - own["b − a + c"]
    family = np.array([row.section == "family" for row in questions])
    synonyms = [row for row in word_similarity("simlex999") if row.score >= SYNONYMS]
    return {
        "questions": len(questions),
        "pairs": len({*pairs, *(row[:2] for row in questions)}),
        "answered": {name: some.mean() for name, some in own.items()},
        "family": {name: some[family].mean() for name, some in own.items()},
        "family_questions": int(family.sum()),
        "family_pairs": len({pair for pair, row in zip(pairs, family, strict=True) if row}),
        "family_gain": {
            "value": gain[family].mean(),
            "interval": interval(
                gain[family], [pair for pair, row in zip(pairs, family, strict=True) if row]
            ),
        },
        "gain": {"value": gain.mean(), "interval": interval(gain, pairs)},
        "behind": {"value": behind.mean(), "interval": interval(behind, pairs)},
        "antonyms": among_nearest(vectors, [pair.split() for pair in ANTONYMS.split(",")]),
        "synonyms": among_nearest(vectors, synonyms),
    }


def shared(one: str, other: str) -> int:
    """How many first characters of two words are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def replaced(a: str, b: str, c: str) -> str | None:
    """The word c with the ending that leads from a to b, if c has a's ending."""
    same = shared(a, b)
    ending = a[same:]
    return c.removesuffix(ending) + b[same:] if c.endswith(ending) else None


def overlap(one: str, other: str) -> float:
    """The share of all n-grams of three to five characters of two words that both have."""
    first, second = set(character_ngrams(one)), set(character_ngrams(other))
    return len(first & second) / len(first | second)


def beginning(one: str, other: str) -> tuple[int, int]:
    """How many first characters are the same, and how short the other word is."""
    return shared(one, other), -len(other)


def of_spelling() -> dict:
    """What spelling alone reaches."""
    questions = covered(differences.vectors_of(differences.REFERENCE))
    right = np.array([replaced(*row[:3]) == row.d for row in questions], float)
    family = np.array([row.section == "family" for row in questions])
    gone = set(subword.removed_words())
    known = [word for word in subword.known_words(subword.corpus()[0]) if word not in gone]
    related = families([*known, *gone])
    asked = [word for word in subword.removed_words()[1::2] if related[word] & set(known)]
    ways = {"overlap": overlap, "beginning": beginning}
    pairs = subword.pairs_with_removed(known, 1)
    return {
        "questions": len(questions),
        "answered": right.mean(),
        "family": right[family].mean(),
        "forms": {
            name: sum(max(known, key=lambda k: way(word, k)) in related[word] for word in asked)
            / len(asked)
            for name, way in ways.items()
        },
        "asked": len(asked),
        "rho": rank_correlation(
            torch.tensor([overlap(one, other) for one, other, _ in pairs]),
            torch.tensor([float(score) for *_, score in pairs]),
        ),
    }


def run(setting: str, seed: int) -> dict:
    """The results of one kind of vectors, or of spelling alone."""
    return of_spelling() if setting == SPELLING else of_vectors(setting)


STUDY = Study("ch02/controls", run, (*VECTORS, SPELLING))

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
