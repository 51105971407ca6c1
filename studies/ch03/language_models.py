"""How well does each kind of language model predict the next token? For chapters 3 and 11.

    python -m studies.ch03.language_models --seeds 0 1 2
    python -m studies.ch03.language_models captions-lstm docstrings-lstm
    python -m studies.ch03.language_models --table

A setting is a corpus and a model. The corpora are the 29,000 English captions of Multi30k, and the
paragraphs of the docstrings of Python, NumPy and matplotlib. Both are tokenised by byte-pair
encoding (BPE) with 4,000 tokens, learnt from the training split, so that all models of a corpus
assign probabilities to the same tokens, and no token is unknown.

N-gram models of order 2, 3 and 5 are smoothed in four ways: by adding k to each count (the best of
a few k on the validation split); by Kneser–Ney smoothing with one discount of 0.75, with one
discount that is the best of a few on the validation split (captions only), or with three discounts.
They are deterministic, and their `parameters` are the counts that they store. The networks read the
training split equally often, and training ends where their schedule ends. The feed-forward network
(Bengio et al. 2003) is a control with a fixed window, as n-gram models have: it reads the
embeddings of the last 2, 4 or 8 tokens (captions only).

`bits_per_character` divides the bits of all tokens by the number of characters, and counts the end
of a text as one character. Unlike `bits_per_token`, it can compare models with different
tokenisations.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import nn

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_token_batches, pad, token_batches
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.python.docstrings import docstrings, fingerprint
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.metrics.perplexity import mean_surprisal
from gates2heads.models.language.base import LanguageModel, NeuralLanguageModel
from gates2heads.models.language.neural import (
    FeedForwardLanguageModel,
    RecurrentLanguageModel,
    TransformerLanguageModel,
)
from gates2heads.models.language.ngram import AddK, KneserNey, NgramModel
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.parallel import precision_here, prepare_accelerator
from gates2heads.training.schedules import warmup_cosine

VOCABULARY = 4_000
BATCH_TOKENS = 1_000
ROUNDS = {"captions": 3, "docstrings": 2}  # through the training split
ADDED = (1.0, 0.1, 0.01, 0.001)  # the values of k that are tried
DISCOUNTS = (0.75, 0.8, 0.85, 0.9, 0.95)  # the values of a single discount that are tried
READ_AT_ONCE = 50  # texts that are scored in one batch
WIDTH, DROPOUT = 256, 0.1
WARMUP = 100  # steps
# At the peak: the best but one of a few, on 200 validation captions after 300 steps, since a longer
# run forgives less. (LSTM 16e-3 and Transformer 6e-3 were ahead by 0.1 and 0.03 bits per token.)
RATES = {"feed-forward": 4e-3, "rnn": 8e-3, "gru": 8e-3, "lstm": 8e-3, "transformer": 4e-3}
ORDERS = (2, 3, 5)
SMOOTHED = ("add-k", "one-discount", "tuned-discount", "kneser-ney")
ABOUT_CAPTIONS = ("feed-forward-", "tuned-discount")  # questions of sections 3.5 and 3.7
CELLS = ("rnn", "gru", "lstm")
WINDOWS = (2, 4, 8)  # tokens
MODELS = [
    *(f"{order}-gram-{how}" for order in ORDERS for how in SMOOTHED),
    *(f"feed-forward-{window}" for window in WINDOWS),
    *CELLS,
    "transformer",
]
SETTINGS = [
    f"{corpus}-{model}"
    for corpus in ROUNDS
    for model in MODELS
    if corpus == "captions" or not any(one in model for one in ABOUT_CAPTIONS)
]


class Corpus(NamedTuple):
    """Token numbers of each split, what they were cut by, and the characters behind them."""

    tokenizer: BPETokenizer
    tokens: dict[str, list[list[int]]]
    characters: dict[str, int]  # the end of a text is one
    about: str


def texts_of(corpus: str, split: str) -> list[str]:
    """The texts of a split, each of which a model reads by itself."""
    if corpus == "captions":
        return [pair.english for pair in multi30k(split)]
    return [text for document in docstrings(split) for text in document.paragraphs]


@cache
def read(corpus: str) -> Corpus:
    """Cut a corpus into tokens."""
    texts = {split: texts_of(corpus, split) for split in ("train", "validation", "test")}
    tokenizer = BPETokenizer.train(texts["train"], VOCABULARY)
    return Corpus(
        tokenizer,
        {split: tokenizer.encode_all(some) for split, some in texts.items()},
        {split: sum(len(text) + 1 for text in some) for split, some in texts.items()},
        "Multi30k, English" if corpus == "captions" else fingerprint(),
    )


def log_probs_of(model: LanguageModel, texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """The log-probability of every token of all texts, one text after the other: (tokens,)."""
    found, device = [], "cpu"
    if isinstance(model, nn.Module):
        device = next(model.parameters()).device  # in `fit`, that of the training
    with torch.no_grad():
        for start in range(0, len(texts), READ_AT_ONCE):
            tokens, mask = (part.to(device) for part in pad(texts[start : start + READ_AT_ONCE]))
            found.append(model.log_probs(tokens, mask=mask)[mask].double().cpu())
    return torch.cat(found)


def surprise(model: LanguageModel, texts: Sequence[Sequence[int]]) -> float:
    """Bits per token, the end of each text included."""
    return mean_surprisal(log_probs_of(model, sorted(texts, key=len)), unit="bits")


def count(model: str, corpus: Corpus) -> tuple[NgramModel, dict]:
    """Count n-grams; return the model and how it was made."""
    order, how = int(model[0]), model.partition("-gram-")[2]
    given = corpus.tokens["train"], len(corpus.tokenizer), order
    if how == "add-k":
        tried = {k: AddK(*given, k=k) for k in ADDED}
        bits = {k: surprise(one, corpus.tokens["validation"]) for k, one in tried.items()}
        best = min(bits, key=bits.get)
        return tried[best], {"k": best}
    if how == "tuned-discount":
        tried = {one: KneserNey(*given, discount=one) for one in DISCOUNTS}
        bits = {one: surprise(made, corpus.tokens["validation"]) for one, made in tried.items()}
        best = min(bits, key=bits.get)
        return tried[best], {"discount": best, "validation_bits_per_token": list(bits.values())}
    discount = 0.75 if how == "one-discount" else None
    made = KneserNey(*given, discount=discount)
    return made, {"discounts": [list(some) for some in made.discounts]}


def build(model: str, vocabulary_size: int) -> NeuralLanguageModel:
    """A network of the study's size."""
    if model == "transformer":
        return TransformerLanguageModel(
            vocabulary_size,
            d_model=WIDTH,
            nhead=4,
            num_layers=2,
            dim_feedforward=2 * WIDTH,
            dropout=DROPOUT,
            max_length=1024,
        )
    if model.startswith("feed-forward-"):
        return FeedForwardLanguageModel(
            vocabulary_size,
            window=int(model.rpartition("-")[2]),
            embedding_size=WIDTH,
            hidden_size=WIDTH,
            dropout=DROPOUT,
        )
    return RecurrentLanguageModel(
        vocabulary_size, cell=model, embedding_size=WIDTH, hidden_size=WIDTH, dropout=DROPOUT
    )


def rate_of(model: str) -> float:
    """The learning rate at the peak of a network's schedule."""
    return RATES["feed-forward" if model.startswith("feed-forward-") else model]


def train(
    name: str,
    model: str,
    corpus: Corpus,
    seed: int,
    rounds: int | None = None,
    rate: float | None = None,
) -> tuple[NeuralLanguageModel, dict]:
    """Train a network; return it, and the course of its bits per token on the validation split."""
    rounds = ROUNDS[name] if rounds is None else rounds
    torch.manual_seed(seed)
    network = build(model, len(corpus.tokenizer))
    pairs = [([corpus.tokenizer.eos], text) for text in corpus.tokens["train"]]
    once = sum(1 for _ in token_batches(pairs, BATCH_TOKENS))
    steps = rounds * once
    rate = rate_of(model) if rate is None else rate
    accelerator = prepare_accelerator(precision_here("auto"))
    history = fit(
        network,
        endless_token_batches(pairs, BATCH_TOKENS, seed=seed),
        steps=steps,
        loss=sequence_loss,
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=WARMUP),
        evaluate=partial(surprise, texts=corpus.tokens["validation"]),
        evaluate_at=[done * once for done in range(1, rounds + 1)],
        accelerator=accelerator,
        description=f"{name}, {model}, seed {seed}",
    )
    return network.eval(), {
        "evaluated_at": history.evaluated_at,
        "validation_bits_per_token": history.evaluations,
        "learning_rate": rate,
        "precision": accelerator.mixed_precision,
    }


def run(setting: str, seed: int) -> dict:
    """Count or train one model; return its size and its scores on the test split."""
    name, _, model = setting.partition("-")
    corpus = read(name)
    if "-gram-" in model:
        made, how = count(model, corpus)
        parameters = sum(len(some) for table in made.counts for some in table.values())
    else:
        made, how = train(name, model, corpus, seed)
        parameters = sum(parameter.numel() for parameter in made.parameters())
    test = corpus.tokens["test"]
    tokens, bits = sum(map(len, test)), surprise(made, test)
    return {
        "parameters": parameters,
        "bits_per_token": bits,
        "bits_per_character": bits * tokens / corpus.characters["test"],
        "perplexity": 2**bits,
        "made": how,
        "corpus": {
            "about": corpus.about,
            "vocabulary": len(corpus.tokenizer),
            "train_tokens": sum(map(len, corpus.tokens["train"])),
            "test_tokens": tokens,
            "test_characters": corpus.characters["test"],
        },
    }


if __name__ == "__main__":
    Study("ch03/language_models", run, SETTINGS).main()
