"""How far do the word vectors of chapter 2 differ on the same questions? For section 2.8.

    python -m studies.ch02.differences --seeds 0 1 2
    python -m studies.ch02.differences --table

A setting is a kind of vectors: counted on `descriptions` as in `evaluation.py`, random, or one of
the three trained models. With seed 0, the models are the tables that the library distributes; with
other seeds, they are trained as in `word_vectors.py`. All are evaluated on the second half of each
test set. Each result has a `value` with its 95 % interval, and a `difference`: the result of
skip-gram (same seed) minus this result, with the interval of a paired bootstrap.

`restricted` asks whether MEN is the easier test because it contains unrelated pairs. It has the
correlations on MEN and SimLex-999, on the half of the pairs with the highest human scores, and on
the pairs of frequent words (both occur 100 times or more). `restricted_whole` uses both halves of
each test set, to include more pairs; the hyperparameters were chosen on the first.

Analogies are answered by the word nearest to b − a + c (3CosAdd), by the word nearest to c alone,
and by 3CosMul of Levy and Goldberg (2014), which multiplies the cosines with b and c and divides by
the cosine with a. `product` maps all cosines to [0, 1] first; `unmapped` maps only those of vectors
with negative entries, as Levy and Goldberg do. The words a, b and c are excluded. `ranks_for_cat`
has the ranks of "dog" and "while" among the neighbours of "cat", `ranks_of_frequent` the median
rank of the most frequent words among the neighbours of five nouns. Needs the folder
GATES2HEADS_DATA, or downloads Multi30k and the word tests.
"""

from collections.abc import Sequence
from functools import cache
from statistics import median

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.word_tests import analogies, word_similarity
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02 import evaluation, word_vectors

CORPUS = "descriptions"
SHIPPED = {"skip-gram": "words_skip_gram", "cbow": "words_cbow", "glove": "words_glove"}
REFERENCE = "skip-gram"
SETTINGS = ("ppmi", "svd", *SHIPPED, "untrained")
TESTS = ("men", "simlex999", "wordsim353")
NOUNS = ("cat", "dog", "car", "guitar", "snow")
OFFSETS = {"offset": (-1, 1, 1), "c_alone": (0, 0, 1)}  # how much of a, b and c is in the query
PRODUCTS = ("product", "unmapped")  # 3CosMul
OFTEN = 100  # occurrences of a frequent word
EPSILON = 1e-3  # keeps the denominator of 3CosMul above 0


@cache
def vectors_of(setting: str, seed: int = 0) -> WordVectors:
    """The vectors of the words, without those of special tokens."""
    if setting in SHIPPED and seed == 0:
        return shipped(SHIPPED[setting]).model.compared()
    vocabulary, _ = word_vectors.corpus(CORPUS)
    return word_vectors.compared(vocabulary, evaluation.vectors_of(CORPUS, setting, "", seed))


def pair_statistics(vectors: WordVectors, pairs: list) -> Tensor:
    """The rank sums of the known pairs: (n, 6)."""
    known = [row for row in pairs if row[0] in vectors and row[1] in vectors]
    ours = torch.tensor([vectors.similarity(one, other) for one, other, _ in known])
    return evaluation.rank_sums(ours, torch.tensor([float(row[2]) for row in known]))


def solved(vectors: WordVectors, questions: list) -> dict[str, Tensor]:
    """Of each known analogy, whether its answer is found: by b − a + c, c alone, and 3CosMul."""
    known = [row[:4] for row in questions if all(word in vectors for word in row[:4])]
    numbers = [[vectors.index[word] for word in row] for row in known]
    met = sorted({number for row in numbers for number in row})
    place = {number: at for at, number in enumerate(met)}
    cosines = (vectors.unit[met] @ vectors.unit.T).double()  # (words of the questions, V)
    mapped = (cosines + 1) / 2
    unmapped = cosines if vectors.unit.min() >= 0 else mapped
    found = {name: [] for name in (*OFFSETS, *PRODUCTS)}
    for *asked, right in numbers:
        a, b, c = (place[word] for word in asked)
        scores = {
            name: sum(part * cosines[at] for part, at in zip(parts, (a, b, c), strict=True))
            for name, parts in OFFSETS.items()
        }
        for name, cos in zip(PRODUCTS, (mapped, unmapped), strict=True):
            scores[name] = cos[b] * cos[c] / (cos[a] + EPSILON)
        for name, some in scores.items():
            some[asked] = -torch.inf
            found[name].append(int(some.argmax()) == right)
    return {name: torch.tensor(some).double() for name, some in found.items()}


def upper_half(pairs: list) -> list:
    """The half of the pairs with the highest scores."""
    return sorted(pairs, key=lambda row: -row[2])[: len(pairs) // 2]


def restricted(vectors: WordVectors, tests: dict[str, list]) -> dict:
    """The correlations on the upper half of each test, and among frequent words."""
    model = shipped(SHIPPED[REFERENCE]).model
    often = {word for word, n in zip(model.words, model.counts.tolist(), strict=True) if n >= OFTEN}
    found = {}
    for name, rows in tests.items():
        known = [row for row in rows if row[0] in vectors and row[1] in vectors]
        for title, some in (("all", known), ("upper half", upper_half(known))):
            for words, pairs in (
                ("all words", some),
                ("frequent", [row for row in some if often.issuperset(row[:2])]),
            ):
                statistics = pair_statistics(vectors, pairs)
                value = evaluation.correlation(statistics.sum(0))
                told = evaluation.scored(statistics, evaluation.correlation, value, len(rows))
                found[f"{name}, {title}, {words}"] = told
    return found


@cache
def statistics_of(setting: str, seed: int) -> dict[str, Tensor]:
    """The statistics of each test."""
    vectors = vectors_of(setting, seed)
    pairs = {name: pair_statistics(vectors, word_similarity(name)[1::2]) for name in TESTS}
    return pairs | solved(vectors, analogies()[1::2])


def against(reference: Tensor, own: Tensor, score=None) -> dict:
    """Own's value, and the difference reference − own, each with its interval."""
    found = paired_bootstrap(reference.numpy(), own.numpy(), score)
    return {
        "value": found.score_b,
        "interval": list(found.interval_b),
        "difference": found.difference,
        "interval_of_difference": list(found.interval_difference),
        "used": len(own),
    }


def ranks_for_cat(vectors: WordVectors) -> dict[str, int]:
    """The ranks of "dog" and "while" among the neighbours of "cat"; 1 is nearest."""
    near = [word for word, _ in vectors.nearest("cat", len(vectors.words) - 1)]
    return {word: near.index(word) + 1 for word in ("dog", "while")}


@cache
def most_frequent() -> list[str]:
    """The most frequent 1 % of the words."""
    model = shipped(SHIPPED[REFERENCE]).model
    order = model.counts.argsort(descending=True, stable=True)
    return [model.words[number] for number in order[: len(model.words) // 100].tolist()]


def ranks_of_frequent(vectors: WordVectors, nouns: Sequence[str], frequent: Sequence[str]) -> list:
    """The median rank of frequent words among the neighbours of each noun; 1 is nearest."""
    medians = []
    for noun in nouns:
        near = [word for word, _ in vectors.nearest(noun, len(vectors.words) - 1)]
        rank = {word: at for at, word in enumerate(near, 1)}
        medians.append(median(rank[word] for word in frequent if word in rank))
    return medians


def run(setting: str, seed: int) -> dict:
    """Compare one kind of vectors with skip-gram's."""
    own, there = statistics_of(setting, seed), statistics_of(REFERENCE, seed)
    gain = against(own["offset"], own["c_alone"])
    right, near = own["offset"].bool(), own["c_alone"].bool()
    vectors = vectors_of(setting, seed)
    narrow = {name: word_similarity(name) for name in TESTS[:2]}
    return {
        **{name: against(there[name], own[name], evaluation.correlation) for name in TESTS},
        "analogies": against(there["offset"], own["offset"]),
        **{name: against(there[name], own[name]) for name in PRODUCTS},
        "restricted": restricted(vectors, {name: rows[1::2] for name, rows in narrow.items()}),
        "restricted_whole": restricted(vectors, narrow),
        "c_alone": {key: gain[key] for key in ("value", "interval")},
        "gain": {"value": gain["difference"], "interval": gain["interval_of_difference"]},
        "right_by_both": int((right & near).sum()),
        "right": int(right.sum()),
        "ranks_for_cat": ranks_for_cat(vectors),
        "nearest_to_cat": [word for word, _ in vectors.nearest("cat", 8)],
        "ranks_of_frequent": ranks_of_frequent(vectors, NOUNS, most_frequent()),
    }


STUDY = Study("ch02/differences", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
