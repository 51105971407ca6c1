"""Do the nearest neighbours of "cat" occur in the same sentences as "cat"? For section 2.8.

    python -m studies.ch02.shared_sentences
    python -m studies.ch02.shared_sentences --table

The five neighbours of each method are those that `differences.py` stores for seed 0. For each of
them, `shared` has the number of sentences of the training text that contain it, that also contain
"cat", and that also contain "dog". No model is trained. Needs the folder GATES2HEADS_DATA, or
downloads Multi30k.
"""

from collections.abc import Collection, Sequence

from gates2heads.book.studies import Study, read_study, results_of
from studies.ch02.word_vectors import corpus

METHODS = ("ppmi", "svd", "skip-gram", "cbow", "glove")
NEAREST = 5


def shared_counts(sentences: Sequence[Collection[str]], word: str) -> dict[str, int]:
    """How many sentences contain a word, and how many of them "cat" and "dog"."""
    found = [set(words) for words in sentences if word in words]
    return {
        "sentences": len(found),
        "with_cat": sum("cat" in words for words in found),
        "with_dog": sum("dog" in words for words in found),
    }


def run(setting: str, _seed: int) -> dict:
    """Count the sentences of all neighbours in one text."""
    vocabulary, encoded = corpus(setting)
    sentences = [{vocabulary.tokens[number] for number in numbers} for numbers in encoded]
    stored = read_study("ch02/differences")
    near = {name: results_of(stored, name)[0]["nearest_to_cat"][:NEAREST] for name in METHODS}
    words = sorted({"cat", "dog", *(word for some in near.values() for word in some)})
    return {
        "all": len(sentences),
        "nearest_to_cat": near,
        "shared": {word: shared_counts(sentences, word) for word in words},
    }


STUDY = Study("ch02/shared_sentences", run, ["descriptions"])

if __name__ == "__main__":
    STUDY.main()
