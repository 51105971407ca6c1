"""Word2vec against gensim: words a second and the loss on held-out text, in one run.

Run with `python benchmarks/test_bench_word2vec.py` for the table, or with pytest for the bounds.
Both train skip-gram with 5 negatives, window 5, width 100, and two workers, on the docstrings.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from gates2heads.data.docstrings import docstrings, fingerprint
from gates2heads.data.prose import sentences
from gates2heads.data.windows import Text, join_sentences
from gates2heads.data.words import WordVocabulary, split_words
from gates2heads.models.word2vec import Word2Vec
from gates2heads.models.word2vec_training import expected_loss, train_negative_sampling

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
    choices = {"epochs": epochs, "window": WINDOW, "threshold": THRESHOLD, "workers": WORKERS}
    choices |= {"learning_rate": OUR_RATE, "seed": seed, "progress": False}
    taken = measure(lambda: train_negative_sampling(model, corpus.text, **choices))
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


def compare(rounds):
    """Train in turn; the median of each number over the rounds, ours and theirs."""
    corpus = read_corpus()
    runs = [
        (run_ours(corpus, OUR_EPOCHS, seed), run_gensim(corpus, EPOCHS, seed))
        for seed in range(1, rounds + 1)
    ]
    rows = [[(*run.speed, run.seconds, run.processor, run.loss) for run in pair] for pair in runs]
    return np.median(np.array(rows), axis=0)  # (2, 5)


@pytest.fixture(scope="module")
def medians():
    """One round: the bounds leave room for a busy machine."""
    return compare(rounds=1)


def test_our_loss_is_no_worse(medians):
    """The held-out loss, after fewer epochs."""
    assert medians[0, 4] <= medians[1, 4] + 0.005


def test_our_words_a_second_of_processor_time_are_no_fewer(medians):
    """Speed where a busy machine counts for neither side."""
    assert medians[0, 1] >= medians[1, 1]


def test_we_need_less_processor_time_for_the_same_loss(medians):
    """Epochs and speed together."""
    assert medians[0, 3] <= medians[1, 3] / 1.5


if __name__ == "__main__":
    table = compare(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    print(fingerprint())
    print(f"{'':8}{'words/s':>12}{'words/s of CPU':>16}{'seconds':>10}{'CPU s':>8}{'loss':>8}")
    for name, row in zip((f"ours, {OUR_EPOCHS}", f"gensim, {EPOCHS}"), table, strict=True):
        print(f"{name:9}{row[0]:11,.0f}{row[1]:16,.0f}{row[2]:10.1f}{row[3]:8.1f}{row[4]:8.3f}")
    print("ratio    " + f"{table[0, 0] / table[1, 0]:11.2f}{table[0, 1] / table[1, 1]:16.2f}")
