"""Do word vectors associate activities with women or men? A word embedding association test.

    python -m studies.ch02.bias --seeds 0 1 2 3 4
    python -m studies.ch02.bias --table

The three models learn from `descriptions`, as in `word_vectors.py`. The association of a word is
its mean cosine with ten words for women minus its mean cosine with the ten counterparts for men.
The word lists were fixed before any of this was computed. The effect is the difference between the
mean associations of two sets of activities and occupations, divided by the standard deviation of
all associations; its one-sided p-value is the share of all equal divisions of the words into two
sets whose difference is at least as large (Caliskan et al. 2017). `sentences` has, for each word,
in how many sentences it occurs with a word for women and with one for men. Needs the folder
GATES2HEADS_DATA, or downloads Multi30k.
"""

from functools import cache
from itertools import combinations

import torch

from gates2heads.book.studies import Study
from gates2heads.metrics.words.vectors import WordVectors
from studies.ch02.word_vectors import MODELS, compared, corpus, train

WOMEN = ["woman", "women", "girl", "girls", "she", "her", "lady", "female", "mother", "daughter"]
MEN = ["man", "men", "boy", "boys", "he", "his", "gentleman", "male", "father", "son"]
FIRST = ["nurse", "teacher", "dancer", "cooking", "sewing", "knitting", "shopping", "cleaning"]
SECOND = [
    "soldier",
    "carpenter",
    "mechanic",
    "engineer",
    "welding",
    "fishing",
    "driving",
    "wrestling",
]


def associations(vectors: WordVectors) -> dict[str, float]:
    """How much nearer each word is to the words for women than to those for men."""
    sides = [torch.stack([vectors.unit_vector(one) for one in words]) for words in (WOMEN, MEN)]
    found = {}
    for word in FIRST + SECOND:
        women, men = (float((side @ vectors.unit_vector(word)).mean()) for side in sides)
        found[word] = women - men
    return found


def effect(values: list[float]) -> tuple[float, float]:
    """Effect and exact one-sided p-value of associations, whose first half is the first set."""
    scores = torch.tensor(values, dtype=torch.double)
    half = len(scores) // 2
    chosen = torch.tensor(list(combinations(range(2 * half), half)))  # the given one is the first
    sums = scores[chosen].sum(1)  # the two means differ by (2 · sum − all) / half
    p_value = float((sums >= sums[0] - 1e-12).double().mean())
    difference = scores[:half].mean() - scores[half:].mean()
    return float(difference / scores.std(correction=1)), p_value


@cache
def sentences_with() -> dict[str, dict[str, int]]:
    """For each word, in how many sentences it occurs, and with words for women and for men."""
    vocabulary, sentences = corpus("descriptions")
    women, men = (set(vocabulary.encode(words)) for words in (WOMEN, MEN))
    numbers = dict(zip(vocabulary.encode(FIRST + SECOND), FIRST + SECOND, strict=True))
    found = {word: {"all": 0, "women": 0, "men": 0} for word in numbers.values()}
    for sentence in map(set, sentences):
        for number in sentence & numbers.keys():
            row = found[numbers[number]]
            row["all"] += 1
            row["women"] += not women.isdisjoint(sentence)
            row["men"] += not men.isdisjoint(sentence)
    return found


def run(model: str, seed: int) -> dict:
    """Train one model and measure the association."""
    vocabulary, _ = corpus("descriptions")
    vectors = compared(vocabulary, train("descriptions", model, "", seed)[0])
    values = associations(vectors)
    size, p_value = effect(list(values.values()))
    return {
        "associations": values,
        "effect": size,
        "p_value": p_value,
        "sentences": sentences_with(),
    }


STUDY = Study("ch02/bias", run, MODELS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
