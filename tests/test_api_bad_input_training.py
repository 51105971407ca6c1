"""The walk of `nonsense.py` through training: losses, schedules, files, recipes and tasks."""

import math
from functools import partial
from tempfile import mkdtemp
from types import SimpleNamespace

import torch
from nonsense import (
    BATCH,
    COUNTS,
    FLAGS,
    FLOATS,
    LISTS,
    MASK,
    MASKS,
    POSITIVES,
    SHARES,
    SOURCE,
    THINGS,
    TOKENS,
    B,
    S,
    V,
    floats,
    through,
    walk,
)
from torch import nn

from gates2heads.models.seq2seq import EncoderDecoder
from gates2heads.training.averaging import average_weights
from gates2heads.training.checkpoints import (
    TrainingCheckpoint,
    as_path,
    load_weights,
    read_weights,
    save_weights,
)
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy, r_drop_loss, sequence_loss
from gates2heads.training.parallel import prepare_accelerator
from gates2heads.training.recipes import complete
from gates2heads.training.runs import load
from gates2heads.training.schedules import warmup_cosine, warmup_linear
from gates2heads.training.snapshots import Snapshots

FILE = f"{mkdtemp()}/point.safetensors"
POINT, MODEL = nn.Linear(1, 1), EncoderDecoder(V, V, embedding_size=7, hidden_size=6)
save_weights(FILE, POINT)
PATHS = [object(), None, 3, [], {"a": 1}]
FILES = [*PATHS, "nonsense", ".", __file__]
STEPS = [*THINGS, None, -1, 2.5, math.nan, 9, 10**30]
BATCHES = [*THINGS, None, 3, [], (), SOURCE]
SCORES = SimpleNamespace(evaluations=[0.5, 0.7])
ALONE = prepare_accelerator("no")


class Number:
    def to(self, device):
        return self


def point_loss(model, batch):
    return model.weight.sum()


ENTRIES = {
    "cross_entropy": (
        cross_entropy,
        {"logits": floats(B, S, V), "target": SOURCE, "mask": MASK, "label_smoothing": 0.1},
        {
            "logits": [*FLOATS, floats(B, S, V).long(), floats(B, S, 2)],
            "target": TOKENS,
            "mask": [*MASKS, torch.zeros(B, S).bool()],
            "label_smoothing": SHARES,
        },
    ),
    "sequence_loss": (
        partial(sequence_loss, MODEL),
        {"batch": BATCH, "label_smoothing": 0.1},
        {"batch": BATCHES, "label_smoothing": SHARES},
    ),
    "r_drop_loss": (
        partial(r_drop_loss, MODEL),
        {"batch": BATCH, "weight": 0.5, "label_smoothing": 0.1},
        {
            "batch": BATCHES,
            "weight": [*THINGS, None, -1, math.nan, math.inf, [], True],
            "label_smoothing": SHARES,
        },
    ),
    "warmup_linear": (
        warmup_linear,
        {"total": 9, "warmup": 2, "decay": 0.5},
        {"total": COUNTS, "warmup": [*STEPS, 8], "decay": SHARES},
    ),
    "warmup_cosine": (
        warmup_cosine,
        {"total": 9, "warmup": 2},
        {"total": COUNTS, "warmup": STEPS},
    ),
    "EarlyStopping": (
        EarlyStopping,
        {"patience": 2, "score": len},
        {"patience": COUNTS, "score": [*THINGS, None, 3]},
    ),
    "EarlyStopping.best": (
        lambda score: EarlyStopping(2, score).best(SCORES),
        {"score": float},
        {"score": [*THINGS, None, str, lambda evaluation: math.nan]},
    ),
    "average_weights": (
        average_weights,
        {"paths": [FILE, FILE]},
        {"paths": [*LISTS, FILE, [], ["nonsense"], [3]]},
    ),
    "Snapshots": (
        Snapshots,
        {"path": FILE, "count": 2},
        {"path": PATHS, "count": COUNTS},
    ),
    "TrainingCheckpoint": (
        TrainingCheckpoint,
        {"path": "run.pt", "every": 5},
        {"path": [*PATHS, "."], "every": COUNTS},
    ),
    "as_path": (as_path, {"path": FILE}, {"path": PATHS}),
    "save_weights": (
        partial(save_weights, FILE, POINT, card={"a": 1}),  # not to write to odd places
        {"small": False},
        {"small": FLAGS},
    ),
    "load_weights": (partial(load_weights, model=POINT), {"path": FILE}, {"path": FILES}),
    "read_weights": (read_weights, {"path": FILE}, {"path": FILES}),
    "load": (
        through(load, lambda path: path == FILE or load(path)),
        {"path": FILE},
        {"path": FILES},
    ),
    "complete": (
        complete,
        {"given": {"task": "dates", "model": {"kind": "Transformer"}}},
        {"given": [*THINGS, None, 3, [], {}, {"task": 3}, {"task": "dates", "seed": -1}]},
    ),
    "fit": (
        through(fit, lambda **given: fit(**given, accelerator=ALONE, progress=False)),
        {
            "model": POINT,
            "batches": [Number()],
            "steps": 1,
            "loss": point_loss,
            "learning_rate": 0.1,
            "clip": 1.0,
            "evaluate": None,
            "evaluate_at": (),
            "early_stopping": None,
            "snapshots": None,
            "checkpoint": None,
        },
        {
            "model": [*THINGS, None],
            "batches": [*LISTS, [], [3, 3], [None], ["a", "b"]],
            "steps": COUNTS,
            "loss": [*THINGS, None, lambda m, b: 3, lambda m, b: None, lambda m, b: floats(2)],
            "learning_rate": POSITIVES,
            "clip": POSITIVES,
            "evaluate": [3, "em", object()],
            "evaluate_at": [3, None, 2.5, object()],
            "early_stopping": [3, object(), EarlyStopping(2)],
            "snapshots": [3, object(), Snapshots(FILE, 2)],
            "checkpoint": ["run.pt", 3, object()],
        },
    ),
}
SAME = {  # what a refusal names instead
    "paths": ["path"],
    "path": ["safetensors", "card"],
    "given": ["recipe", "task", "seed", "model"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)


def test_a_loss_of_nan_logits_is_nan_so_that_training_stops():
    logits = torch.full((B, S, V), math.nan)
    assert cross_entropy(logits, SOURCE).isnan()
