"""Rules without a trained network, scored on the test captions like the models of chapter 10.

    GATES2HEADS_DATA=… python -m studies.ch10.simple_rules
    python -m studies.ch10.simple_rules --table

Each setting is a rule:

- `copy` returns the German caption.
- `constant` always returns the most frequent English training caption.
- `nearest` returns the English side of the training pair whose German side is the most similar, by
  the cosine of the counts of words and pairs of words, in lower case, weighted by their inverse
  document frequency.
- `dictionary` replaces every German word by the most probable English one according to IBM model 1
  (8 iterations of expectation maximisation, `REPEATED`, on the same 29,000 pairs). It keeps the
  German word order and copies unknown words.
- "dictionary, lower case" does the same with the German words in lower case, so that the case does
  not distinguish the word that begins a sentence. Its output has a capital first letter and is
  otherwise in lower case; `bleu_without_case` is its BLEU without case.

`gain` is the difference in BLEU between `dictionary` and the first run of the GRU with beam search,
with the interval of a paired bootstrap.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from gates2heads.book.studies import Study
from gates2heads.book.written import read_written
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.metrics.bleu import Bleu, corpus_bleu
from gates2heads.metrics.chrf import corpus_chrf
from gates2heads.metrics.significance import paired_bootstrap

REPEATED = 8
BESIDE = "captions-gru 0"

Pairs = Sequence[tuple[str, str]]


def split(text: str) -> list[str]:
    """Words (with hyphens) and punctuation marks."""
    return re.findall(r"\w+(?:-\w+)*|[^\w\s]", text)


def joined(words: Iterable[str]) -> str:
    """Words as a text, with no space before a punctuation mark."""
    return re.sub(r" ([.,;:!?)])", r"\1", " ".join(words))


def copies(train: Pairs, texts: Sequence[str]) -> list[str]:
    """The texts themselves."""
    return list(texts)


def constants(train: Pairs, texts: Sequence[str]) -> list[str]:
    """For every text, the most frequent target."""
    ((most, _),) = Counter(target for _, target in train).most_common(1)
    return [most] * len(texts)


def pieces(text: str) -> list[str]:
    """Words and pairs of words, in lower case."""
    words = [word.lower() for word in split(text)]
    return words + [" ".join(pair) for pair in pairwise(words)]


def nearest(train: Pairs, texts: Sequence[str]) -> list[str]:
    """For every text, the target of the most similar source."""
    columns: dict[str, int] = {}
    for source, _ in train:
        for piece in pieces(source):
            columns.setdefault(piece, len(columns))

    def counts(some: Iterable[str]) -> sparse.csr_matrix:
        rows = [[columns[one] for one in pieces(text) if one in columns] for text in some]
        ends = np.cumsum([0, *map(len, rows)])
        flat = np.array([one for row in rows for one in row], dtype=int)
        shape = len(rows), len(columns)
        found = sparse.csr_matrix((np.ones(len(flat)), flat, ends), shape=shape)
        found.sum_duplicates()
        return found

    known, asked = counts(source for source, _ in train), counts(texts)
    weights = np.log(len(train) / np.asarray((known > 0).sum(0)).ravel())

    def unit(some: sparse.csr_matrix) -> sparse.csr_matrix:
        some = some @ sparse.diags(weights)
        length = np.sqrt(np.asarray(some.multiply(some).sum(1)).ravel())
        return sparse.diags(1 / np.where(length > 0, length, 1)) @ some

    likeness = (unit(asked) @ unit(known).T).toarray()
    return [train[place][1] for place in likeness.argmax(1)]


def dictionary_of(train: Pairs) -> dict[str, str]:
    """The most probable target word of each source word, by IBM model 1."""
    sources, targets = ([split(text) for text in side] for side in zip(*train, strict=True))
    read = {word: n for n, word in enumerate(sorted({w for text in sources for w in text}))}
    written = {word: n for n, word in enumerate(sorted({w for text in targets for w in text}))}
    links, places, begin = [], [], 0
    for source, target in zip(sources, targets, strict=True):
        ours = np.array([read[word] for word in source])
        theirs = np.array([written[word] for word in target])
        links.append((ours[:, None] * len(written) + theirs).ravel())
        places.append(np.tile(np.arange(begin, begin + len(target)), len(source)))
        begin += len(target)
    pairs, link = np.unique(np.concatenate(links), return_inverse=True)
    place, word = np.concatenate(places), pairs // len(written)
    chance = np.ones(len(pairs))  # of a target word, given a source word
    for _ in range(REPEATED):
        share = chance[link] / np.bincount(place, chance[link])[place]
        counts = np.bincount(link, share, minlength=len(pairs))
        chance = counts / np.bincount(word, counts)[word]
    order = np.lexsort((-chance, word))
    best = order[np.unique(word[order], return_index=True)[1]]
    ours, theirs = list(read), list(written)
    return {ours[pair // len(theirs)]: theirs[pair % len(theirs)] for pair in pairs[best]}


def word_by_word(train: Pairs, texts: Sequence[str], key: Callable = str) -> list[str]:
    """Every word replaced by its entry in the dictionary, under `key(word)`, or copied."""
    entries = dictionary_of([(key(source), target) for source, target in train])
    return [joined(entries.get(key(word), word) for word in split(text)) for text in texts]


def in_lower_case(train: Pairs, texts: Sequence[str]) -> list[str]:
    """`word_by_word` without the case of the sources; each output begins with a capital letter."""
    return [text.capitalize() for text in word_by_word(train, texts, key=str.lower)]


RULES = {
    "copy": copies,
    "constant": constants,
    "nearest": nearest,
    "dictionary": word_by_word,
    "dictionary, lower case": in_lower_case,
}


def gain(ours: np.ndarray, theirs: np.ndarray, seed: int) -> dict:
    """The difference in BLEU and its 95 % paired bootstrap interval, from counts of captions."""
    found = paired_bootstrap(
        ours, theirs, lambda total: Bleu().from_statistics(total).score, seed=seed
    )
    return {"bleu": [found.difference, *found.interval_difference]}


def run(setting: str, seed: int) -> Mapping:
    """The scores of a rule; the seed sets only the bootstrap."""
    train = [(pair.german, pair.english) for pair in multi30k("train")]
    test = [(pair.german, pair.english) for pair in multi30k("test")]
    written = RULES[setting](train, [german for german, _ in test])
    references = [[english] for _, english in test]
    counts = Bleu().statistics(written, references)
    result = {
        "bleu": Bleu().from_statistics(counts.sum(0)).score,
        "chrf": corpus_chrf(written, references).score,
    }
    if setting == "dictionary, lower case":
        result["bleu_without_case"] = corpus_bleu(written, references, lowercase=True).score
    if setting == "dictionary":
        result["gain"] = gain(counts, read_written("ch10/leaderboard")[BESIDE].bleu, seed)
    return result


if __name__ == "__main__":
    Study("ch10/simple_rules", run, tuple(RULES)).main()
