"""Word2vec against gensim: words a second and the loss on held-out text, in one run.

Both train skip-gram with 5 negatives, window 5, width 100, and two workers, on the docstrings.
"""

import time
from dataclasses import dataclass

import pytest
import torch

from gates2heads.data.batches.windows import Text, join_sentences
from gates2heads.data.corpora.prose import sentences
from gates2heads.data.corpora.python.docstrings import docstrings
from gates2heads.data.tokens.words import WordVocabulary, split_words
from gates2heads.models.words.training import expected_loss, train_negative_sampling
from gates2heads.models.words.word2vec import Word2Vec

models = pytest.importorskip("gensim.models", reason="needs gensim")

WIDTH, WINDOW, NEGATIVES, THRESHOLD, WORKERS, EPOCHS = 100, 5, 5, 1e-3, 2, 5
OUR_EPOCHS = 3  # enough to be ahead in the loss as well
OUR_RATE = 0.2


@dataclass(frozen=True)
class Corpus:
    """The docstrings as both sides want them: words for gensim, numbers for us."""

    vocabulary: WordVocabulary
    words: list[list[str]]
    text: Text
    held_out: Text


@dataclass(frozen=True)
class Run:
    """What one training took and gave."""

    seconds: float  # on the clock
    processor: float  # of all threads together
    words: int
    loss: float  # nats a pair of the held-out text

    @property
    def speed(self):
        """Words a second on the clock, and words a second of processor time."""
        return self.words / self.seconds, self.words / self.processor


def read_corpus():
    """Cut the docstrings into sentences of words that occur three times or more."""
    lines = {
        split: [
            split_words(sentence)
            for document in docstrings(split)
            for paragraph in document.entry
            for sentence in sentences(paragraph)
        ]
        for split in ("train", "validation")
    }
    vocabulary = WordVocabulary.from_texts(lines["train"], min_count=3)
    known = {
        split: [kept for line in part if (kept := [w for w in line if w in vocabulary])]
        for split, part in lines.items()
    }
    texts = [
        join_sentences([vocabulary.encode(line) for line in known[split]])
        for split in ("train", "validation")
    ]
    return Corpus(vocabulary, known["train"], *texts)


def measure(train):
    """Seconds on the clock and of the processor that a call takes."""
    clock, processor = time.perf_counter(), time.process_time()
    train()
    return time.perf_counter() - clock, time.process_time() - processor


def run_ours(corpus, epochs, seed):
    """Train our model and measure it."""
    torch.manual_seed(seed)
    model = Word2Vec(corpus.vocabulary.counts, WIDTH, negatives=NEGATIVES)
    taken = measure(
        lambda: train_negative_sampling(
            model,
            corpus.text,
            epochs=epochs,
            window=WINDOW,
            threshold=THRESHOLD,
            workers=WORKERS,
            learning_rate=OUR_RATE,
            seed=seed,
            progress=False,
        )
    )
    loss = expected_loss(model, corpus.held_out, window=WINDOW)
    return Run(*taken, epochs * len(corpus.text.tokens), loss)


def run_gensim(corpus, epochs, seed):
    """Train gensim's model and measure it with our loss, on its own vectors."""
    theirs = models.Word2Vec(
        vector_size=WIDTH, window=WINDOW, sg=1, negative=NEGATIVES, sample=THRESHOLD,
        min_count=1, workers=WORKERS, seed=seed,
    )  # fmt: skip
    theirs.build_vocab(corpus.words)
    size = theirs.corpus_count
    taken = measure(lambda: theirs.train(corpus.words, total_examples=size, epochs=epochs))
    model = Word2Vec(corpus.vocabulary.counts, WIDTH, negatives=NEGATIVES)
    order = corpus.vocabulary.encode(theirs.wv.index_to_key)
    with torch.no_grad():
        model.vectors.weight[order] = torch.from_numpy(theirs.wv.vectors.copy())
        model.output.vectors.weight[order] = torch.from_numpy(theirs.syn1neg.copy())
    loss = expected_loss(model, corpus.held_out, window=WINDOW)
    return Run(*taken, epochs * len(corpus.text.tokens), loss)


@pytest.fixture(scope="module")
def runs():
    """One training each."""
    corpus = read_corpus()
    return run_ours(corpus, OUR_EPOCHS, seed=1), run_gensim(corpus, EPOCHS, seed=1)


CASES = {  # quantity: (how it is read off a run, its aim)
    "words a second of processor": (lambda run: run.speed[1], {"at_least": 1.0}),
    "words a second": (lambda run: run.speed[0], {"at_least": 1.0}),
    "processor seconds to the end": (lambda run: run.processor, {"at_most": 0.67}),
    "held-out loss, nats a pair": (lambda run: run.loss, {"at_most": 1.0}),
}


@pytest.mark.parametrize("quantity", CASES)
def test_negative_sampling(note, runs, quantity):
    """Our loss is no worse after fewer epochs, at no less speed in each of them."""
    read, aim = CASES[quantity]
    case = f"skip-gram, {OUR_EPOCHS} epochs against {EPOCHS}"
    note(case, f"gensim, {WORKERS} workers", quantity, *map(read, runs), **aim)
