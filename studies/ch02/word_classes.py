"""Word classes of the captions: what does a class reveal about a word? For chapter 2.

    python -m studies.ch02.word_classes
    python -m studies.ch02.word_classes --table

The 1,000 most frequent words of the captions are divided into classes by `brown_classes`; the
setting is the number of classes. The similarity of two words is 1 if they are in the same class,
and 0 otherwise. `people` is its rank correlation with human scores, on the same half of MEN as in
`word_vectors.py`; `vectors` is that of skip-gram on the same pairs, and `vectors_inside` that of
skip-gram on the pairs within a class. The classes do not depend on the seed; the skip-gram vectors
do.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.word_tests import word_similarity
from gates2heads.metrics.words.vectors import rank_correlation
from gates2heads.models.words.brown import brown_classes
from studies.ch02.word_vectors import compared, corpus, train

MOST_FREQUENT = 1000
SETTINGS = ("10", "20", "50", "100", "200")


def run(setting: str, seed: int) -> dict:
    """Make the classes, and compare them and the skip-gram's vectors with people."""
    vocabulary, sentences = corpus("captions")
    first = vocabulary.unk + 1
    words = vocabulary.tokens[first : first + MOST_FREQUENT]
    counts = torch.zeros(len(vocabulary))
    counts[first : first + MOST_FREQUENT] = vocabulary.counts[first : first + MOST_FREQUENT]
    found = brown_classes(join_sentences(sentences), counts, int(setting))
    place = {word: int(found[vocabulary.index[word]]) for word in words}
    pairs = [pair for pair in word_similarity("men")[1::2] if {*pair[:2]} <= place.keys()]
    scores = torch.tensor([pair.score for pair in pairs])
    together = torch.tensor([float(place[one] == place[other]) for one, other, _ in pairs])
    vectors = compared(vocabulary, train("captions", "skip-gram", "", seed)[0])
    cosines = torch.tensor([vectors.similarity(one, other) for one, other, _ in pairs])
    inside = together.bool()
    return {
        "words": len(words),
        "pairs": len(pairs),
        "together": int(inside.sum()),
        "people": float(rank_correlation(together, scores)),
        "vectors": float(rank_correlation(cosines, scores)),
        "vectors_inside": float(rank_correlation(cosines[inside], scores[inside])),
        "scores_inside": scores[inside].sort().values.tolist(),
        "classes": [[word for word in words if place[word] == one] for one in range(int(setting))],
    }


STUDY = Study("ch02/word_classes", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
