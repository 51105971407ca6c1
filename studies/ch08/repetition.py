"""How much does open-ended generation repeat itself, from greedy search to unmodified sampling?

    GATES2HEADS_DATA=… python -m studies.ch08.repetition --seeds 0 1 2 3 4
    python -m studies.ch08.repetition --table

A setting is a decoding method. The three language models of chapter 3 continue four beginnings by
60 tokens each, while `<eos>` and the punctuation marks that end a sentence are forbidden. The
setting `test captions` is human text for comparison: the test captions, joined in random order
without these tokens and divided into passages of 60 tokens.

`mean` and `most` are the mean and the maximum, over the outputs of a seed, of the share of 4-grams
that occurred before in the same output. Greedy search does not depend on the seed. Section 8.7
shows the results.
"""

import random
from collections.abc import Sequence

import torch

from gates2heads.book.ch08.open_ended import (
    BEGINNINGS,
    LONGEST,
    repeated,
    stops,
    without_stops,
)
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.search import greedy

MODELS = {
    "Kneser–Ney trigrams": "captions_ngram",
    "GRU": "captions_gru",
    "Transformer": "captions_transformer",
}
HUMAN = "test captions"
WAYS = {
    "greedy": None,
    "temperature 0.3": {"temperature": 0.3},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 0.7": {"temperature": 0.7},
    "top-k 3": {"top_k": 3},
    "top-k 10": {"top_k": 10},
    "top-p 0.3": {"top_p": 0.3},
    "top-p 0.5": {"top_p": 0.5},
    "top-p 0.7": {"top_p": 0.7},
    "top-p 0.9": {"top_p": 0.9},
    "unmodified": {},
    HUMAN: None,
}


def continued(writer, way: dict | None, seed: int) -> list[list[int]]:
    """The 60 tokens after each beginning."""
    words, outputs = writer.source.vocabulary, []
    step = without_stops(writer.model, stops(words.tokens))
    for number, text in enumerate(BEGINNINGS):
        told = {
            "bos": words.bos,
            "eos": None,
            "max_length": LONGEST,
            "prefix": writer.source.encode(text, eos=False),
        }
        start = writer.model.start(1)
        with torch.no_grad():
            if way is None:
                found = greedy(step, start, **told)
            else:
                generator = torch.Generator().manual_seed(len(BEGINNINGS) * seed + number)
                found = sample(step, start, generator=generator, **told, **way)
        outputs.append(found.tokens[0].tolist())
    return outputs


def joined(writer, texts: Sequence[str], seed: int) -> list[list[int]]:
    """Passages of 60 tokens of human captions, in random order."""
    forbidden = set(stops(writer.source.vocabulary.tokens))
    order = list(texts)
    random.Random(seed).shuffle(order)
    tokens = [
        token
        for text in order
        for token in writer.source.encode(text, eos=False)
        if token not in forbidden
    ]
    return [tokens[at : at + LONGEST] for at in range(0, len(tokens) - LONGEST + 1, LONGEST)]


def run(way: str, seed: int) -> dict:
    """The repeated 4-grams of every model, or of the captions."""
    result = {"tokens": LONGEST, "way": WAYS[way], "models": {}}
    for name, file in MODELS.items():
        writer = shipped(file)
        if way == HUMAN:
            texts = [pair.english for pair in multi30k("test")]
            outputs = joined(writer, texts, seed)
            result["example"] = writer.source.decode(outputs[0])
        else:
            outputs = continued(writer, WAYS[way], seed)
        shares = [repeated(tokens) for tokens in outputs]
        result["models"][name] = {
            "outputs": len(outputs),
            "mean": sum(shares) / len(shares),
            "most": max(shares),
        }
    return result


if __name__ == "__main__":
    Study("ch08/repetition", run, tuple(WAYS)).main()
