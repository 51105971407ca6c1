"""Counted and trained word vectors, on captions and on more text: the same tests with intervals.

    python -m studies.ch02.evaluation --seeds 0 1 2
    python -m studies.ch02.evaluation --table

A setting names a corpus, a model and, in some cases, a change. The corpora and the trained models
are those of `word_vectors.py`. The counted vectors are tf-idf over sentences, PPMI over windows,
and the 64 largest singular directions of that PPMI matrix; they do not depend on the seed.
Hyperparameters were chosen on the first half of each test set, and all results are of the second.

`judged` has Spearman's correlation with human scores, and the share of analogies solved. Each has a
95 % bootstrap interval over the questions (with the ranks of the whole half), and the number of
questions that the vocabulary covers. `same` is restricted to the questions whose words are in the
vocabularies of both corpora. `same_sort` takes 60 colours, animals, vehicles, instruments, clothes
and numbers, and gives the share of their five nearest words that belong to the same category. Needs
the folder GATES2HEADS_DATA, or downloads Multi30k and the word tests.
"""

from collections.abc import Callable, Sequence
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.word_tests import analogies, word_similarity
from gates2heads.metrics.significance import bootstrap_interval
from gates2heads.metrics.words.vectors import ranks
from gates2heads.models.words.counted import ppmi, svd_vectors, tf_idf
from gates2heads.models.words.glove import cooccurrences
from studies.ch02 import word_vectors

CORPORA = ("captions", "descriptions")
COUNTED = ("tf-idf", "ppmi", "svd")
MODELS = ("untrained", *COUNTED, *word_vectors.MODELS)
WINDOW, POWER = 6, 0.75  # of the counted table, and of the context distribution of PPMI
TESTS = ("wordsim353", "men", "simlex999")
PROBES = (
    "cat",
    "dog",
    "bicycle",
    "red",
    "happy",
    "guitar",
    "quickly",
    "king",
    "paris",
    "dalmation",
)
SENSES = ("bank", "bat", "rock", "court", "class", "string", "key", "figure")
SORTS = {
    "colours": "red blue green yellow white black pink purple orange brown",
    "animals": "dog cat horse bird cow sheep duck elephant monkey goat",
    "vehicles": "car bus truck bicycle motorcycle bike boat train scooter van",
    "instruments": "guitar piano drums violin trumpet accordion saxophone flute cello harmonica",
    "clothes": "shirt hat jacket dress jeans shorts coat sweater skirt pants",
    "numbers": "one two three four five six seven eight several many",
}
SETTINGS = [f"{corpus}, {model}" for corpus in CORPORA for model in MODELS]
SETTINGS += [
    f"captions, {model}, {attack}"
    for model in ("skip-gram", "cbow")
    for attack in word_vectors.ATTACKS
    if "window" not in attack
]
# Does a wide window find words that occur together, and a narrow one words of the same sort?
OTHER_WINDOWS = {"ppmi": (2, 10), "svd": (2, 10), "skip-gram": (10,), "cbow": (10,), "glove": (2,)}
SETTINGS += [
    f"descriptions, {model}, window of {size}"
    for model, sizes in OTHER_WINDOWS.items()
    for size in sizes
]
CHUNK = 128  # words whose cosines are computed together


@cache
def counted(name: str, model: str, window: int = WINDOW) -> Tensor:
    """The counted vectors of a corpus, (V, ·); of tf-idf a sparse matrix."""
    vocabulary, sentences = word_vectors.corpus(name)
    text = join_sentences(sentences)
    if model == "tf-idf":
        return tf_idf(text, len(vocabulary))
    if model == "svd":
        return svd_vectors(counted(name, "ppmi", window), word_vectors.WIDTH)
    return ppmi(cooccurrences(text, window=window), len(vocabulary), power=POWER)


def vectors_of(name: str, model: str, otherwise: str, seed: int) -> Tensor:
    """The vectors of one setting, special tokens included."""
    if model in COUNTED:
        return counted(name, model, word_vectors.ATTACKS.get(otherwise, {}).get("window", WINDOW))
    if model == "untrained":
        model, otherwise = "skip-gram", "untrained"
    return word_vectors.train(name, model, otherwise, seed)[0]


def cosines(vectors: Tensor, rows: Sequence[int]) -> Tensor:
    """The cosines (n, V) of some rows with all; a vector of zeros has the cosine 0."""
    if not vectors.is_sparse:
        unit = F.normalize(vectors, dim=1)
        return unit[list(rows)] @ unit.T
    word = vectors.indices()[0]
    length = torch.zeros(len(vectors)).index_add_(0, word, vectors.values().square()).sqrt()
    scaled = vectors.values() / length.clamp(min=1e-12)[word]
    unit = torch.sparse_coo_tensor(vectors.indices(), scaled, vectors.shape, check_invariants=True)
    chunks = torch.tensor(list(rows)).split(CHUNK)
    parts = [unit @ unit.index_select(0, some).to_dense().T for some in chunks]
    return torch.cat(parts, dim=1).T


def rank_sums(ours: Tensor, theirs: Tensor) -> Tensor:
    """What Spearman's correlation adds up from, a row for each of n pairs: (n, 6)."""
    x, y = ranks(ours), ranks(theirs)
    return torch.stack([torch.ones_like(x), x, y, x * x, y * y, x * y], dim=1)


def correlation(total) -> float:
    """Pearson's correlation from the sums of 1, x, y, x², y² and xy."""
    size, x, y, xx, yy, xy = total
    spread = (xx - x * x / size) * (yy - y * y / size)
    return float((xy - x * y / size) / spread**0.5) if spread > 0 else 0.0


def scored(statistics: Tensor, score: Callable | None, value: float, total: int) -> dict:
    """A value with its interval, and how many questions of the test were covered."""
    low, high = bootstrap_interval(statistics.numpy(), score)
    return {"value": value, "low": low, "high": high, "used": len(statistics), "total": total}


class Judge:
    """Judges vectors by the questions whose words are all among some.

    Args:
        words: all of the vocabulary, specials included.
        vectors: (V, ·).
        among: the words that questions may contain.
        specials: how many tokens at the beginning are no words.
        half: of each test set, 0 or 1.
    """

    def __init__(self, words: list[str], vectors: Tensor, among: set, specials: int, half: int = 1):
        self.index = {word: number for number, word in enumerate(words)}
        self.tests = {name: word_similarity(name)[half::2] for name in TESTS}
        self.questions = analogies()[half::2]
        self.known = {
            name: [row for row in rows if among.issuperset(row[:2])]
            for name, rows in self.tests.items()
        }
        self.asked = [row[:4] for row in self.questions if among.issuperset(row[:4])]
        met = {word for rows in self.known.values() for row in rows for word in row[:2]}
        met = sorted(met.union(*self.asked))
        self.place = {word: number for number, word in enumerate(met)}
        self.table = cosines(vectors, [self.index[word] for word in met])  # (n, V)
        self.table[:, :specials] = -torch.inf

    def similarity(self, name: str) -> dict:
        """The agreement with people on one test."""
        rows = self.known[name]
        ours = torch.stack([self.table[self.place[a], self.index[b]] for a, b, _ in rows])
        statistics = rank_sums(ours, torch.tensor([row[2] for row in rows]))
        value = correlation(statistics.sum(0))
        return scored(statistics, correlation, value, len(self.tests[name]))

    def analogies(self) -> dict:
        """The share of questions that are solved when the three words may not answer."""
        right = []
        for a, b, c, d in self.asked:
            near = self.table[self.place[b]] - self.table[self.place[a]] + self.table[self.place[c]]
            near[[self.index[word] for word in (a, b, c)]] = -torch.inf
            near[near.isnan()] = -torch.inf  # the specials
            right.append(float(int(near.argmax()) == self.index[d]))
        solved = torch.tensor(right).double()
        return scored(solved, None, float(solved.mean()), len(self.questions))

    def all(self) -> dict:
        """Every test."""
        return {name: self.similarity(name) for name in TESTS} | {"analogies": self.analogies()}


def of_the_same_sort(words: list[str], vectors: Tensor, specials: int) -> float:
    """Of the five nearest words of 60 words of six sorts, the share that is of the same sort."""
    sort_of = {word: sort for sort, some in SORTS.items() for word in some.split()}
    near = neighbours(words, vectors, list(sort_of), specials)
    same = [sort_of.get(one) == sort_of[word] for word, some in near.items() for one in some[:5]]
    return sum(same) / len(same)


def neighbours(words: list[str], vectors: Tensor, asked: Sequence[str], specials: int) -> dict:
    """The eight nearest words of each word that is known."""
    known = [word for word in asked if word in words]
    near = cosines(vectors, [words.index(word) for word in known])
    near[:, :specials] = -torch.inf
    near[range(len(known)), [words.index(word) for word in known]] = -torch.inf
    best = near.topk(8).indices.tolist()
    return {word: [words[n] for n in row] for word, row in zip(known, best, strict=True)}


def run(setting: str, seed: int) -> dict:
    """Make the vectors of one setting and judge them."""
    name, model, otherwise = (*setting.split(", "), "")[:3]
    vocabulary, sentences = word_vectors.corpus(name)
    words, specials = vocabulary.tokens, vocabulary.unk + 1
    vectors = vectors_of(name, model, otherwise, seed)
    shared = set.intersection(*(set(word_vectors.corpus(one)[0].tokens) for one in CORPORA))
    return {
        "words": len(words) - specials,
        "tokens": sum(map(len, sentences)),
        "judged": Judge(words, vectors, set(words), specials).all(),
        "same": Judge(words, vectors, shared, specials).all(),
        "same_sort": of_the_same_sort(words, vectors, specials),
        "nearest": neighbours(words, vectors, PROBES + SENSES, specials),
    }


STUDY = Study("ch02/evaluation", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
