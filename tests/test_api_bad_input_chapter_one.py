"""The walk of `nonsense.py` through the small models and the Jacobians of chapter 1."""

import torch

from gates2heads.exercises.faulty_memory import memory
from gates2heads.exercises.remembering import LETTERS, Rememberer, recall_loss, recalled, texts
from gates2heads.layers.recurrent import GRU
from gates2heads.layers.recurrent.jacobians import influence, step_jacobians
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FLAGS,
    FLOATS,
    HUGE,
    MASKS,
    THINGS,
    TOKENS,
    floats,
    through,
    walk,
)

TEXT = torch.full((2, 5), 3)
SEEDS = [-HUGE, "a", 2.5]
# Of TOKENS those with a token number 11, which is a symbol of noise here, are left out.
FEW = [x for x in TOKENS if not (isinstance(x, torch.Tensor) and x.numel() and x.max() == 11)]
FEW += [torch.full((2, 5), 99)]
BATCHES = [*FEW, torch.full((2, 5), LETTERS)]
MODULES = [*THINGS, None, 3, Rememberer]
READER = Rememberer("gru", 3)


def first(draw):
    """Draw the first batch: only then does a generator look at its arguments."""
    return through(draw, lambda **given: next(draw(**given)))


ENTRIES = {
    "Rememberer": (
        Rememberer,
        {"cell": "lstm", "units": 3, "forget_bias": 1.0, "orthogonal": False},
        {
            "cell": CHOICES,
            "units": COUNTS,
            "forget_bias": [*THINGS, float("nan"), float("inf"), []],
            "orthogonal": FLAGS,
        },
    ),
    "Rememberer.forward": (
        READER.forward,
        {"texts": TEXT, "mask": TEXT > 2},
        {"texts": FEW, "mask": MASKS},
    ),
    "Rememberer.vectors": (READER.vectors, {"texts": TEXT}, {"texts": FEW}),
    "texts": (
        first(texts),
        {"count": 2, "distance": 5, "shortest": 2, "seed": 1},
        {"count": COUNTS, "distance": COUNTS, "shortest": COUNTS, "seed": SEEDS},
    ),
    "recall_loss": (
        recall_loss,
        {"model": READER, "batch": TEXT},
        {"model": MODULES, "batch": BATCHES},
    ),
    "recalled": (recalled, {"model": READER, "batch": TEXT}, {"model": MODULES, "batch": BATCHES}),
    "memory": (memory, {"faulty": True}, {"faulty": FLAGS}),
    "step_jacobians": (
        step_jacobians,
        {"layer": GRU(7, 3), "inputs": floats(5, 7)},
        {"layer": [*THINGS, None, 3, GRU, torch.nn.Linear(7, 3)], "inputs": FLOATS},
    ),
    "influence": (
        influence,
        {"jacobians": floats(5, 3, 3), "units": 2},
        {"jacobians": FLOATS, "units": COUNTS},
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
