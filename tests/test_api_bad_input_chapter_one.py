"""The walk of `nonsense.py` through the small models and the Jacobians of chapter 1."""

import torch

from gates2heads.exercises.faulty_memory import memory
from gates2heads.exercises.remembering import LETTERS, Rememberer, recall_loss, recalled, texts
from gates2heads.layers.recurrent import GRU
from gates2heads.layers.recurrent.jacobians import influence, step_jacobians
from tests.nonsense import (
    CHOICES,
    COUNTS,
    FEW,
    FLAGS,
    FLOATS,
    MASKS,
    SEEDS,
    THINGS,
    first_drawn,
    floats,
    walk,
)

TEXT = torch.full((2, 5), 3)
BATCHES = [*FEW, torch.full((2, 5), LETTERS)]
MODULES = [*THINGS, None, 3, Rememberer]
READER = Rememberer("gru", 3)


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
        first_drawn(texts),
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
