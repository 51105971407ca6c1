"""Chapter 3, a bug to find: a language model of dates, trained correctly or with one bug."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, flag, instance, natural, strings
from gates2heads.data.batches.pairs import Batch, collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.grading.paper import bug_check
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy

FAULTS = {
    "a": "padding is counted as tokens, in the loss and in the perplexity",
    "b": "the model receives as input the token that it should predict",
    "c": "2 is raised to the mean surprisal in nats",
    "d": "`<eos>` is missing from the training sequences",
}
TEXTS, BATCH, STEPS = 1000, 32, 120
_DAY = r"(?:(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat|Tues|Wednes|Thurs|Satur)(?:day)?, )?"
_MONTH = (
    r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec|January|"
    r"February|March|April|August|September|October|November|December)"
)
WELL_FORMED = re.compile(rf"{_DAY}{_MONTH} \d{{1,2}}, \d{{4}}")  # the form of `date_texts`


class Reader(NamedTuple):
    """A trained model of dates, with its tokenizer, and whether its program has the bug."""

    model: RecurrentLanguageModel
    tokenizer: CharacterTokenizer
    faulty: bool


@accepts(size=natural)
def date_texts(split: str, size: int) -> list[str]:
    """Dates as people write them in English, in short and long formats."""
    return [pair.text for pair in dates(split, size, locales=["en"], seed=0)]


@accepts(faulty=flag, steps=natural)
def train_reader(*, faulty: bool = False, steps: int = STEPS) -> Reader:
    """Train a GRU with 32 units as a character-level language model of dates.

    Args:
        faulty: train it with the bug that the reader has to find.
        steps: number of batches of 32 dates.
    """
    texts = date_texts("train", TEXTS)
    tokenizer = CharacterTokenizer(Vocabulary(sorted(set("".join(texts)))))
    torch.manual_seed(0)
    size = len(tokenizer.vocabulary)
    model = RecurrentLanguageModel(size, cell="gru", embedding_size=16, hidden_size=32)

    def loss(network, batch: Batch) -> Tensor:
        return _surprise(network, batch, faulty=faulty)

    fit(
        model,
        _batches(texts, tokenizer),
        steps=steps,
        loss=loss,
        learning_rate=1e-2,
        progress=False,
    )
    return Reader(model.eval(), tokenizer, faulty)


@accepts(reader=instance(Reader, "from `train_reader`"), texts=strings, batch_size=natural)
def reported_perplexity(reader: Reader, texts: list[str], batch_size: int) -> float:
    """The perplexity of dates as the program reports it, over all of its batches.

    Raises:
        ValueError: there are no texts, or one contains a character that was not in training.
    """
    known = set(reader.tokenizer.vocabulary.tokens)
    texts = list(texts)
    if not texts or not all(text and set(text) <= known for text in texts):
        raise ValueError("texts must hold dates in characters that were in training, at least one")
    pairs = [([Vocabulary.eos], reader.tokenizer.encode(text)) for text in texts]
    starts = range(0, len(pairs), batch_size)
    found, tokens = 0.0, 0
    with torch.no_grad():
        for start in starts:
            batch = collate(pairs[start : start + batch_size])
            places = batch.target_out.numel() if reader.faulty else int(batch.target_mask.sum())
            found += _surprise(reader.model, batch, faulty=reader.faulty).item() * places
            tokens += places
    return float(torch.tensor(found / tokens).exp())


def _batches(texts: list[str], tokenizer: CharacterTokenizer) -> Iterator[Batch]:
    pairs = [([Vocabulary.eos], tokenizer.encode(text)) for text in texts]
    return endless_batches(pairs, BATCH, seed=0)


def _surprise(model, batch: Batch, *, faulty: bool) -> Tensor:
    """Nats per token."""
    mask = torch.ones_like(batch.target_mask) if faulty else batch.target_mask
    return cross_entropy(model(batch), batch.target_out, mask=mask)


check_fault = bug_check(
    "Exercise 3.6",
    FAULTS,
    {
        "b": "Then the perplexity would be near 1 with batches of size 1, too; it is not.",
        "c": "Then the perplexity would be too low with batches of size 1 as well.",
        "d": "Then the samples would not end with `<eos>`; most of them do.",
    },
    closing=": padding after the end is easy to predict, and every such prediction counts.",
)
