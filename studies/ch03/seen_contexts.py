"""Where is counting better than a network? For chapter 3's page *Further*.

    python -m studies.ch03.seen_contexts
    python -m studies.ch03.seen_contexts --table

A setting is a corpus and a number of epochs. An LSTM and a Kneser–Ney 5-gram model are trained as
in `language_models.py`, on the captions and on the docstrings, and once more on the docstrings for
twice as many epochs. All results are surprisals of the test split in bits per token.

`by_context` groups the test tokens by the longest context, of up to four previous tokens, that
occurred in the training split, so that the 5-gram model has counts for it. The group does not
depend on the predicted token itself. The first four tokens of each text are excluded and reported
as `beginnings`: their contexts are padded with `<bos>`, with which every text begins, and would be
counted as seen.
"""

from collections.abc import Sequence
from itertools import chain

import torch

from gates2heads.book.studies import Study
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.metrics.perplexity import mean_surprisal
from gates2heads.models.language.ngram import NgramModel
from studies.ch03.language_models import count, log_probs_of, read, train

ORDER = 5
SETTINGS = {
    "captions, 3 rounds": ("captions", 3),
    "docstrings, 2 rounds": ("docstrings", 2),
    "docstrings, 4 rounds": ("docstrings", 4),
}


def longest_seen(model: NgramModel, text: Sequence[int]) -> list[int]:
    """For each token of a text, how many tokens before it the model has seen as a context."""
    padded = [Vocabulary.bos] * (model.order - 1) + list(text)
    return [
        max(m for m, met in enumerate(model.counts) if tuple(padded[end - m : end]) in met)
        for end in range(model.order - 1, len(padded))
    ]


def run(setting: str, seed: int) -> dict:
    """Count and train; return the bits per token of the test split by the longest seen context."""
    torch.set_num_threads(1)
    name, rounds = SETTINGS[setting]
    corpus = read(name)
    counted, _ = count(f"{ORDER}-gram-kneser-ney", corpus)
    network, how = train(name, "lstm", corpus, seed, rounds)
    texts = sorted(corpus.tokens["test"], key=len)
    seen = torch.tensor(list(chain.from_iterable(longest_seen(counted, text) for text in texts)))
    place = torch.tensor(list(chain.from_iterable(range(len(text)) for text in texts)))
    found = {"5-gram": log_probs_of(counted, texts), "lstm": log_probs_of(network, texts)}

    def surprise(chosen: torch.Tensor) -> dict:
        bits = {name: mean_surprisal(some[chosen], unit="bits") for name, some in found.items()}
        return {"tokens": int(chosen.sum())} | bits

    inside = place >= ORDER - 1
    bits = {model: mean_surprisal(some, unit="bits") for model, some in found.items()}
    return {
        "rounds": rounds,
        "tokens_per_text": len(seen) / len(texts),
        "bits_per_token": bits,
        "perplexity": {model: 2**some for model, some in bits.items()},
        "beginnings": surprise(~inside),
        "by_context": [
            {"met": m} | surprise(inside & (seen == m))
            for m in range(ORDER)
            if (inside & (seen == m)).any()
        ],
        "made": how,
    }


if __name__ == "__main__":
    Study("ch03/seen_contexts", run, tuple(SETTINGS)).main()
