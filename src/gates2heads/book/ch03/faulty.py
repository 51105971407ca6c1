"""Chapter 3, when it breaks: a language model of dates, trained soundly or with one fault."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import a, accepts, count, flag, texts
from gates2heads.data.batches.pairs import Batch, collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy

FAULTS = {
    "a": "places of padding are counted, in the loss and in the perplexity",
    "b": "the model reads the very token that it should predict",
    "c": "2 is raised to the surprise in nats",
    "d": "`<eos>` was left out of the texts",
}
TEXTS, BATCH, STEPS = 1000, 32, 120


class Reader(NamedTuple):
    """A trained model of dates, and how it was told to count."""

    model: RecurrentLanguageModel
    tokenizer: CharacterTokenizer
    faulty: bool


@accepts(size=count)
def date_texts(split: str, size: int) -> list[str]:
    """Dates as people write them in English, short and long ones."""
    return [pair.text for pair in dates(split, size, locales=["en"], seed=0)]


@accepts(faulty=flag, steps=count)
def train_reader(*, faulty: bool = False, steps: int = STEPS) -> Reader:
    """Train a GRU of 32 units to write dates, character by character.

    Args:
        faulty: train it with the fault, which the reader is to find.
        steps: how many batches of 32.
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


@accepts(reader=a(Reader, "from `train_reader`"), texts=texts, batch_size=count)
def reported_perplexity(reader: Reader, texts: list[str], batch_size: int) -> float:
    """The perplexity of texts as the reader's own program reports it, over all of its batches.

    Raises:
        TypeError, ValueError: `reader` is none, there are no texts, one holds a character that was
            not in training, or `batch_size` is no whole number of at least 1.
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


@check("Exercise 3.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty program: one letter of `FAULTS`."""
    contradiction = {
        "b": "Then the number would be near 1 on texts that are read one by one, too; it is not.",
        "c": "Then the number would be too low for texts that are read one by one as well.",
        "d": "Then what it writes would not end; it does.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}: to guess padding after the end is easy, and each such guess counts."
