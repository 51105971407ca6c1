"""What do n-gram models of order 1 to 5 generate? Chapter 3 prints samples of each.

    python -m studies.ch03.ngram_samples
    python -m studies.ch03.ngram_samples --table

A setting is the order of a Kneser–Ney model, estimated from the 29,000 English training captions of
Multi30k in the 4,000 BPE tokens of `language_models.py`. Each model generates 1,000 captions by
sampling token by token, until `<eos>`. `examples` are the first of them; `training_captions` counts
the samples that are identical to a training caption; `runs_seen` is the share of their 4-grams that
occur in the training captions.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.tokens.vocabulary import Vocabulary, text_numbers
from gates2heads.decoding.sampling import sample
from gates2heads.models.language.ngram import KneserNey
from studies.ch03.language_models import read

SETTINGS = [f"order {order}" for order in range(1, 6)]
SAMPLES = 1_000
LONGEST = 60  # tokens
KEPT = 8  # samples that are stored
RUN = 4  # length of the n-grams that are looked up


def runs_of(text: list[int]) -> list[tuple[int, ...]]:
    """The n-grams of length `RUN` in a text."""
    return [tuple(text[start : start + RUN]) for start in range(len(text) - RUN + 1)]


def run(setting: str, seed: int) -> dict:
    """Sample captions from the model of one order."""
    order = int(setting.split()[1])
    corpus = read("captions")
    train = corpus.tokens["train"]
    model = KneserNey(train, len(corpus.tokenizer), order)
    drawn = sample(
        model.step,
        model.start(SAMPLES),
        bos=torch.full((SAMPLES,), Vocabulary.bos),
        eos=Vocabulary.eos,
        max_length=LONGEST,
        generator=torch.Generator().manual_seed(seed),
    )
    texts = [text_numbers(row, len(corpus.tokenizer)) for row in drawn.tokens.tolist()]
    known = {tuple(text[:-1]) for text in train}
    seen = {one for text in train for one in runs_of(text[:-1])}
    looked_up = [one in seen for text in texts for one in runs_of(text)]
    return {
        "samples": SAMPLES,
        "ended": sum(Vocabulary.eos in row for row in drawn.tokens.tolist()),
        "training_captions": sum(tuple(text) in known for text in texts),
        "runs_seen": sum(looked_up) / len(looked_up),
        "mean_tokens": sum(map(len, texts)) / SAMPLES,
        "examples": [corpus.tokenizer.decode(text) for text in texts[:KEPT]],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/ngram_samples", run, SETTINGS).main()
