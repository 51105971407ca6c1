"""The model of Python source after less training, on one thread of a processor. Section 12.4.

    python -m studies.ch12.python_budgets "400 steps" --seeds 0
    python -m studies.ch12.python_budgets --table

`test` is the cross-entropy of the test modules in bits per character. The released model was
trained for 8,000 steps, on a graphics card: `python -m shipping.python_model`. "unigram", "bigram"
and "trigram" are counted models with Witten–Bell smoothing: `test` after all tokens of the training
split, `few` after as many as 1,000 batches contain.
"""

import math

import torch
from torch import Tensor

from gates2heads.book.ch12.exchanges import BATCH, parameters
from gates2heads.book.ch12.python_model import train_python_model
from gates2heads.book.ch12.python_text import (
    LENGTH,
    TESTED,
    VOCABULARY,
    bits_per_character,
    python_text,
)
from gates2heads.book.studies import Study

COUNTED = {"unigram": 1, "bigram": 2, "trigram": 3}
SETTINGS = {**{f"{steps} steps": steps for steps in (100, 400, 900)}, **COUNTED}


def counted_nats(train: Tensor, test: Tensor, order: int, size: int) -> float:
    """The mean cross-entropy (nats per token) of an n-gram model with Witten–Bell smoothing.

    A context that occurred n times, with t different next tokens, keeps the share n / (n + t) for
    its own counts, and leaves the rest to the shorter context.

    Args:
        train: (N,) long, the tokens that are counted.
        test: (M,) long; the first `order` − 1 of them are only context.
        order: 1, 2 or 3.
        size: of the vocabulary.
    """
    counts = torch.bincount(train, minlength=size).double() + 0.5
    wanted = test[order - 1 :]
    found = (counts / counts.sum())[wanted]
    for longer in range(1, order):
        contexts = _contexts(train, longer, longer, size)
        asked = _contexts(test, order - 1, longer, size)
        grams, times = (contexts * size + train[longer:]).unique(return_counts=True)
        kinds, group = (grams // size).unique(return_inverse=True)
        total = torch.zeros(len(kinds), dtype=torch.double).index_add(0, group, times.double())
        different = torch.bincount(group, minlength=len(kinds)).double()
        at = torch.searchsorted(kinds, asked).clamp(max=len(kinds) - 1)
        known = kinds[at] == asked
        gram = asked * size + wanted
        row = torch.searchsorted(grams, gram).clamp(max=len(grams) - 1)
        own = torch.where(grams[row] == gram, times[row].double(), 0.0)
        mixed = (own + different[at] * found) / (total[at] + different[at])
        found = torch.where(known, mixed, found)
    return -found.log().mean().item()


def _contexts(tokens: Tensor, first: int, length: int, size: int) -> Tensor:
    """A number for the `length` tokens before each position from `first` on."""
    return sum(
        tokens[first - back : len(tokens) - back] * size ** (back - 1)
        for back in range(1, length + 1)
    )


def _counted(order: int) -> dict:
    train, text = python_text("train").tokens, python_text("test")
    bits = len(text.tokens) / text.characters / math.log(2)  # per character, of a nat per token
    budgets = {"test": len(train), "few": 1000 * BATCH * LENGTH}
    return {
        "tokens": len(train),
        **{
            name: bits * counted_nats(train[:read], text.tokens[:TESTED], order, VOCABULARY)
            for name, read in budgets.items()
        },
    }


def run(setting: str, seed: int) -> dict:
    """Train, or count, and test one model."""
    torch.set_num_threads(1)
    if setting in COUNTED:
        return _counted(COUNTED[setting])
    steps = SETTINGS[setting]
    model, history = train_python_model(steps, seed)
    return {
        "parameters": parameters(model),
        "steps": steps,
        "tokens": steps * BATCH * LENGTH,
        "test": bits_per_character(model, python_text("test")),
        "training_seconds": history.seconds,
    }


if __name__ == "__main__":
    Study("ch12/python_budgets", run, SETTINGS).main()
