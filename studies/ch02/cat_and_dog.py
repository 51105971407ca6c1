"""The question of chapter 2: how near is "dog" to "cat", and how near is "while"?

    python -m studies.ch02.cat_and_dog --seeds 0 1 2 3 4
    python -m studies.ch02.cat_and_dog --table

A setting is one of the three models of chapter 2, trained as in `word_vectors.py` on the captions
or, if the setting says so, on `descriptions`. All other words are ranked by their cosine with
"cat"; rank 1 is the nearest. `animals_first` counts, among ten animals, those whose nearest word is
another of the ten. Needs the folder GATES2HEADS_DATA, or downloads Multi30k.
"""

import torch

from gates2heads.book.studies import Study
from studies.ch02.word_vectors import WITH_DESCRIPTIONS, compared, corpus, corpus_and_model, train

ANIMALS = ("dog", "cat", "horse", "bird", "cow", "sheep", "duck", "elephant", "monkey", "goat")


def run(setting: str, seed: int) -> dict:
    """Train one model and rank the neighbours of some words."""
    name, model = corpus_and_model(setting)
    vocabulary, _ = corpus(name)
    vectors, _ = train(name, model, "", seed)
    words = compared(vocabulary, vectors)
    near = {word: [one for one, _ in words.nearest(word, len(words.words) - 1)] for word in ANIMALS}
    return {
        "neighbours": len(words.words) - 1,
        "dog_for_cat": near["cat"].index("dog") + 1,
        "cat_for_dog": near["dog"].index("cat") + 1,
        "while_for_cat": near["cat"].index("while") + 1,
        "nearest_to_cat": near["cat"][:5],
        "animals_first": sum(some[0] in ANIMALS for some in near.values()),
        "animals": len(ANIMALS),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch02/cat_and_dog", run, WITH_DESCRIPTIONS).main()
