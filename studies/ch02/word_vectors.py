"""What word vectors learn from 29,000 captions, or from docstrings. Chapter 2 shows what comes out.

    python -m studies.ch02.word_vectors --seeds 0 1 2
    python -m studies.ch02.word_vectors --table
    python -m studies.ch02.word_vectors --ship

Each setting names a corpus, a model, and what is done otherwise. The vectors are judged by people's
scores of word pairs, and by analogies; each test set was divided in two, every other row. Windows,
epochs and the like were chosen on the first half, and what is stored is of the second. A part of
the captions lacks words, whose vectors stay as they were drawn; so all captions are also judged by
the pairs of MEN whose words even a sixteenth holds (`met`, `met_pairs`). With `--ship`, the vectors
of the three models on captions, seed 0, are written with their cards to
`src/gates2heads/models/weights/words_MODEL.safetensors`. Needs the folder GATES2HEADS_DATA, or
downloads Multi30k and the word tests.
"""

import sys
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from gates2heads.book.studies import Study, device_name
from gates2heads.data.batches.windows import join_sentences
from gates2heads.data.corpora.docstrings import docstrings
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.word_tests import SIMILARITY, analogies, word_similarity
from gates2heads.data.tokens.words import WordVocabulary, split_words
from gates2heads.metrics.word_vectors import WordVectors
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
    "noise as words occur": {"power": 1.0},
    "noise all alike": {"power": 0.0},
    "a quarter of the text": {"part": 4},
    "a sixteenth of the text": {"part": LEAST_PART},
}
SETTINGS = [f"{corpus}, {model}" for corpus in CORPORA for model in MODELS]
SETTINGS += [f"captions, skip-gram, {otherwise}" for otherwise in OTHERWISE]
WEIGHTS = Path(__file__).parents[2] / "src/gates2heads/models/weights"


@cache
def corpus(name: str) -> tuple[WordVocabulary, list[list[int]]]:
    """The words of a corpus that stand there five times or more, and its sentences in numbers."""
    if name == "captions":
        texts = [pair.english for pair in multi30k("train")]
    else:
        texts = [sentence for one in docstrings("train") for sentence in one.sentences]
    sentences = [words for words in map(split_words, texts) if words]
    vocabulary = WordVocabulary.from_texts(sentences, min_count=LEAST_OFTEN)
    return vocabulary, [vocabulary.encode(words) for words in sentences]


def train(name: str, model: str, otherwise: str, seed: int) -> tuple[Tensor, list[float]]:
    """The vectors (V, D) of one setting, and the loss of each epoch."""
    vocabulary, sentences = corpus(name)
    changes = OTHERWISE.get(otherwise, {})
    text = join_sentences(sentences[:: changes.get("part", 1)])
    torch.manual_seed(seed)
    if model == "glove":
        glove = GloVe(len(vocabulary), WIDTH, ceiling=CEILING)
        table = cooccurrences(text, window=GLOVE_WINDOW)
        losses = train_glove(glove, table, epochs=GLOVE_EPOCHS, seed=seed)
        return glove.word_vectors(), losses
    word2vec = Word2Vec(
        vocabulary.counts, WIDTH, architecture=model, power=changes.get("power", 0.75)
    )
    losses = []
    if otherwise != "untrained":
        history = train_negative_sampling(
            word2vec,
            text,
            epochs=EPOCHS,
            window=WINDOW,
            threshold=changes.get("threshold", THRESHOLD),
            seed=seed,
        )
        losses = history.loss
    return word2vec.vectors.weight.detach(), losses


def judged(vectors: WordVectors, half: int) -> dict:
    """How well vectors agree with people, on one half of each test set (0 or 1)."""
    found = {}
    for name in SIMILARITY:
        agreed = vectors.agreement(word_similarity(name)[half::2])
        # ρ of a few pairs says nothing, of one it is no number
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
    """The pairs of MEN, second half, whose words both stand in every `part`th caption."""
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


def ship() -> None:
    """Write the vectors of the three models, rounded to one byte a number, with their cards."""
    vocabulary, sentences = corpus("captions")
    for model in MODELS:
        vectors, losses = train("captions", model, "", seed=0)
        words = compared(vocabulary, vectors)
        counts = vocabulary.counts[-len(words.words) :].long()
        table = WordTable.of(words.words, counts, vectors[-len(words.words) :])
        card = {
            "data": "English captions of Multi30k, the 29,000 to train on "
            f"({sum(map(len, sentences)):,} words and marks)",
            "terms": "Multi30k is for research and education; the file holds no caption.",
            "limits": "Knows words of photographs that stand there five times or more, as they "
            "are used there.",
            "command": "python -m studies.ch02.word_vectors --ship",
            "seed": 0,
            "model": model,
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
