"""What do word vectors learn from 29,000 captions, or from docstrings? See chapter 2.

    python -m studies.ch02.word_vectors --seeds 0 1 2
    python -m studies.ch02.word_vectors --table
    python -m studies.ch02.word_vectors --ship

A setting names a corpus, a model and, in some cases, a change. The corpus `descriptions`, on which
`evaluation.py` reports, consists of the captions and all other English descriptions of the same
images, each sentence once, and the docstrings.

`judged` has the rank correlations with human scores of word pairs, and the accuracy on analogies.
Each test set was divided in two, every other row. Hyperparameters such as the window and the number
of epochs were chosen on the first half; the stored results are of the second. Some words are absent
from a part of the captions, and their vectors remain as they were initialised. Vectors of captions
are therefore also evaluated on the pairs of MEN whose words occur even in a sixteenth of the
captions (`met`, `met_pairs`).

With `--ship`, the vectors of the three models on `descriptions`, seed 0, are written with their
cards to `src/gates2heads/models/weights/words_MODEL.safetensors`. Needs the folder
GATES2HEADS_DATA, or downloads Multi30k and the word tests.
"""

import sys
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from gates2heads.book.studies import Study, device_name
from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.multi30k import descriptions, multi30k
from gates2heads.data.corpora.python.docstrings import docstrings
from gates2heads.data.corpora.word_tests import SIMILARITY, analogies, word_similarity
from gates2heads.data.tokens.words import WordVocabulary, split_words
from gates2heads.metrics.words.vectors import WordVectors
from gates2heads.models.words.glove import GloVe, cooccurrences, train_glove
from gates2heads.models.words.table import WordTable
from gates2heads.models.words.training import train_negative_sampling
from gates2heads.models.words.word2vec import Word2Vec
from gates2heads.training.cards import save_model

WIDTH, LEAST_OFTEN, EPOCHS, WINDOW, THRESHOLD = 64, 5, 15, 6, 1e-3
GLOVE_EPOCHS, GLOVE_WINDOW, CEILING = 30, 10, 10.0
LEAST_PART = 16  # the smallest part of the text that is read: every sixteenth caption
CORPORA = ("captions", "docstrings")
MODELS = ("skip-gram", "cbow", "glove")
OTHERWISE = {
    "untrained": {},
    "all words kept": {"threshold": 1.0},
    "unigram noise": {"power": 1.0},
    "uniform noise": {"power": 0.0},
    "a quarter of the text": {"part": 4},
    "a sixteenth of the text": {"part": LEAST_PART},
}
# What `evaluation.py` varies
ATTACKS = {
    "a third of the rate": {"rate": 1 / 3},
    "three times the rate": {"rate": 3.0},
    "four times the epochs": {"longer": 4},
    "window of 2": {"window": 2},
    "window of 10": {"window": 10},
}
# What differs on the corpus `descriptions`. A narrow window finds words of the same kind, which
# a wide one does not; GloVe needs the wide one to agree with people.
ON_DESCRIPTIONS = {
    "skip-gram": {"epochs": 8, "window": 2},
    "cbow": {"epochs": 12, "window": 2, "rate": 1.5},
    "glove": {"epochs": 20, "window": 10, "rate": 4.0, "batch_size": 16_384},
}
# Settings of other studies: the model alone means the captions
WITH_DESCRIPTIONS = [*MODELS, *(f"descriptions, {model}" for model in MODELS)]
SETTINGS = [f"{corpus}, {model}" for corpus in CORPORA for model in MODELS]
SETTINGS += [f"captions, skip-gram, {otherwise}" for otherwise in OTHERWISE]
WEIGHTS = Path(__file__).parents[2] / "src/gates2heads/models/weights"


def texts_of(name: str) -> list[str]:
    """The sentences of a corpus."""
    if name == "docstrings":
        return [sentence for one in docstrings("train") for sentence in one.sentences]
    captions = [pair.english for pair in multi30k("train")]
    if name == "captions":
        return captions
    # nearly all captions are among the descriptions
    return [*dict.fromkeys([*captions, *descriptions("English")]), *texts_of("docstrings")]


@cache
def corpus(name: str) -> tuple[WordVocabulary, list[list[int]]]:
    """The words of a corpus that occur there five times or more, and its sentences in numbers."""
    sentences = [words for words in map(split_words, texts_of(name)) if words]
    vocabulary = WordVocabulary.from_texts(sentences, min_count=LEAST_OFTEN)
    return vocabulary, [vocabulary.encode(words) for words in sentences]


def corpus_and_model(setting: str) -> tuple[str, str]:
    """What one of `WITH_DESCRIPTIONS` means."""
    name, _, model = setting.rpartition(", ")
    return name or "captions", model


def choices(name: str, model: str) -> dict:
    """Epochs and window of a model on a corpus, and what else is chosen there."""
    glove = model == "glove"
    defaults = {
        "epochs": GLOVE_EPOCHS if glove else EPOCHS,
        "window": GLOVE_WINDOW if glove else WINDOW,
        "rate": 1.0,  # as a multiple of what the training takes where nothing is said
    }
    return defaults | (ON_DESCRIPTIONS[model] if name == "descriptions" else {})


@cache
def train(name: str, model: str, otherwise: str, seed: int) -> tuple[Tensor, list[float]]:
    """The vectors (V, D) of one setting, and the loss of each epoch."""
    vocabulary, sentences = corpus(name)
    changes, chosen = (OTHERWISE | ATTACKS).get(otherwise, {}), choices(name, model)
    text = join_sentences(sentences[:: changes.get("part", 1)])
    epochs = chosen["epochs"] * changes.get("longer", 1)
    window = changes.get("window", chosen["window"])
    rate = chosen["rate"] * changes.get("rate", 1.0)
    torch.manual_seed(seed)
    if model == "glove":
        glove = GloVe(len(vocabulary), WIDTH, x_max=CEILING)
        table = cooccurrences(text, window=window)
        size = chosen.get("batch_size", 8192)
        losses = train_glove(
            glove, table, epochs=epochs, learning_rate=0.05 * rate, batch_size=size, seed=seed
        )
        return glove.word_vectors(), losses
    word2vec = Word2Vec(
        vocabulary.counts, WIDTH, architecture=model, power=changes.get("power", 0.75)
    )
    losses = []
    if otherwise != "untrained":
        history = train_negative_sampling(
            word2vec,
            text,
            epochs=epochs,
            window=window,
            threshold=changes.get("threshold", THRESHOLD),
            learning_rate=0.2 * rate,
            seed=seed,
        )
        losses = history.loss
    return word2vec.vectors.weight.detach(), losses


def judged(vectors: WordVectors, half: int) -> dict:
    """How well vectors agree with people, on one half of each test set (0 or 1)."""
    found = {}
    for name in SIMILARITY:
        agreed = vectors.agreement(word_similarity(name)[half::2])
        # ρ of a few pairs says nothing, of one it is not a number
        found[name] = agreed.value if agreed.used >= 20 else None
        found[f"{name}_pairs"] = agreed.used
    questions = analogies()[half::2]
    strict, open_ended = (
        vectors.analogy_accuracy(questions, exclude=exclude) for exclude in (True, False)
    )
    found |= {"analogies": strict.value, "analogies_asked": strict.used}
    found["analogies_open"] = open_ended.value
    families = [one for one in questions if one.section == "family"]
    family = vectors.analogy_accuracy(families)
    return found | {"family": family.value if family.used else None, "family_asked": family.used}


@cache
def pairs_met(part: int) -> list[tuple[str, str, float]]:
    """The pairs of MEN, second half, whose words both occur in every `part`th caption."""
    vocabulary, sentences = corpus("captions")
    read = {vocabulary.tokens[number] for words in sentences[::part] for number in words}
    return [pair for pair in word_similarity("men")[1::2] if read.issuperset(pair[:2])]


def compared(vocabulary: WordVocabulary, vectors: Tensor) -> WordVectors:
    """The vectors of the words alone, without those of the special tokens."""
    first = vocabulary.unk + 1  # the last of them
    return WordVectors(vocabulary.tokens[first:], vectors[first:])


def run(setting: str, seed: int) -> dict:
    """Train one setting and judge its vectors."""
    name, model, otherwise = (*setting.split(", "), "")[:3]
    vocabulary, sentences = corpus(name)
    vectors, losses = train(name, model, otherwise, seed)
    words = compared(vocabulary, vectors)
    generator = torch.Generator().manual_seed(0)
    some = torch.randint(len(words.words), (2, 10_000), generator=generator)
    met = {}
    if name == "captions":
        agreed = words.agreement(pairs_met(LEAST_PART))
        met = {"met": agreed.value, "met_pairs": agreed.used}
    return {
        "words": len(words.words),
        "tokens": sum(map(len, sentences)),
        "losses": [round(loss, 4) for loss in losses],
        "mean_cosine": float((words.unit[some[0]] * words.unit[some[1]]).sum(1).mean()),
        "judged": judged(words, half=1),
        **met,
    }


def ship(models: tuple[str, ...] = MODELS) -> None:
    """Write the vectors of models, rounded to one byte a number, with their cards."""
    vocabulary, sentences = corpus("descriptions")
    for model in models:
        vectors, losses = train("descriptions", model, "", 0)
        words = compared(vocabulary, vectors)
        counts = vocabulary.counts[-len(words.words) :].long()
        table = WordTable.of(words.words, counts, vectors[-len(words.words) :])
        card = {
            "data": "English captions and descriptions of the training images of Multi30k, each "
            "sentence once, and docstrings of Python's standard library, NumPy and matplotlib "
            f"({sum(map(len, sentences)):,} words and marks)",
            "terms": "Multi30k and Flickr30k are for research and education; the file holds no "
            "sentence.",
            "limits": "Knows words that occur five times or more, as they are used of photographs "
            "and in documentation. Words of a few occurrences have unreliable neighbours; the "
            "vectors repeat stereotypes of the descriptions.",
            "command": "python -m studies.ch02.word_vectors --ship",
            "seed": 0,
            "model": model,
            "settings": choices("descriptions", model),
            "losses": [round(loss, 4) for loss in losses],
            "judged": judged(words, half=1),
            "machine": {"device": device_name(), "threads": torch.get_num_threads()},
        }
        name = f"words_{model.replace('-', '_')}.safetensors"
        save_model(WEIGHTS / name, table, card=card, small=True)
        print(name, card["losses"][-1], card["judged"])


STUDY = Study("ch02/word_vectors", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    if "--ship" in sys.argv[1:]:
        ship()
    else:
        STUDY.main()
