"""The walk of `nonsense.py` through the small models of chapter 6 and what describes heads."""

import torch

from gates2heads.exercises.faulty_heads import Counter, counted, counting_loss, texts
from gates2heads.exercises.reaching import Reach, Reader, sequences
from gates2heads.exercises.recalling import Recaller, recall_loss, twins
from gates2heads.metrics.head_statistics import head_statistics
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
PAIRS = torch.full((2, 2, 5), 3)
NO_PAIRS = [*THINGS, None, 3, [[3]], TEXT, floats(2, 2, 5), torch.full((2, 2, 5), 99)]
MODULES = [*THINGS, None, 3, Reader]
SEEN = {
    "weights": torch.full((2, 3, 5, 7), 1 / 7),
    "queries": torch.ones(2, 5).bool(),
    "keys": torch.ones(2, 7).bool(),
}


ENTRIES = {
    "head_statistics": (
        head_statistics,
        SEEN,
        {"weights": FLOATS, "queries": MASKS, "keys": MASKS},
    ),
    "Reader": (Reader, {"kind": "rotary"}, {"kind": CHOICES}),
    "Reader.forward": (Reader("none").forward, {"tokens": TEXT}, {"tokens": FEW}),
    "Reach": (Reach, {"distance": 3}, {"distance": COUNTS}),
    "Reach.loss": (
        Reach(2).loss,
        {"reader": Reader("none"), "tokens": TEXT},
        {"reader": MODULES, "tokens": FEW},
    ),
    "Reach.right": (
        Reach(2).right,
        {"reader": Reader("none"), "tokens": TEXT, "since": 1},
        {"reader": MODULES, "tokens": FEW, "since": [*THINGS, -1, 5, 2.5]},
    ),
    "sequences": (
        first_drawn(sequences),
        {"count": 2, "length": 5, "seed": 1},
        {"count": COUNTS, "length": COUNTS, "seed": SEEDS},
    ),
    "twins": (first_drawn(twins), {"count": 2, "seed": 1}, {"count": COUNTS, "seed": SEEDS}),
    "texts": (first_drawn(texts), {"count": 2, "seed": 1}, {"count": COUNTS, "seed": SEEDS}),
    "Recaller": (Recaller, {"score": "dot", "size": 3}, {"score": CHOICES, "size": COUNTS}),
    "Recaller.forward": (Recaller("dot", 3).forward, {"pairs": PAIRS}, {"pairs": NO_PAIRS}),
    "recall_loss": (
        recall_loss,
        {"model": Recaller("dot", 3), "pairs": PAIRS},
        {"model": MODULES, "pairs": NO_PAIRS},
    ),
    "Counter": (Counter, {"faulty": True}, {"faulty": FLAGS}),
    "Counter.forward": (
        Counter().forward,
        {"text": TEXT, "mask": TEXT > 2},
        {"text": FEW, "mask": MASKS},
    ),
    "counted": (counted, {"text": TEXT}, {"text": FEW}),
    "counting_loss": (
        counting_loss,
        {"counter": Counter(), "text": TEXT},
        {"counter": MODULES, "text": FEW},
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
