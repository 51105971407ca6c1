"""The walk of `nonsense.py` through training: losses, schedules, files, recipes and tasks."""

import math
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.averaging import average_weights
from gates2heads.training.checkpoints import (
    TrainingCheckpoint,
    load_weights,
    read_packed,
    read_weights,
    save_weights,
    shipped_weights,
)
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.files import as_file, as_path, clear_parts, try_place
from gates2heads.training.loop import fit
from gates2heads.training.losses import cross_entropy, r_drop_loss, sequence_loss
from gates2heads.training.parallel import prepare_accelerator
from gates2heads.training.plain_json import read_json
from gates2heads.training.quantisation import dequantise, quantise
from gates2heads.training.recipes.recipe import complete, read_recipe
from gates2heads.training.recipes.runs import check_output, load
from gates2heads.training.recipes.tasks import CaptionsTask, DatesTask
from gates2heads.training.schedules import warmup_cosine, warmup_linear
from gates2heads.training.snapshots import Snapshots
from tests.nonsense import (
    BATCH,
    CHOICES,
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

FILE = f"{mkdtemp()}/point.safetensors"
POINT, MODEL = nn.Linear(1, 1), EncoderDecoder(V, V, embedding_size=7, hidden_size=6)
save_weights(FILE, POINT)
PATHS = [object(), None, 3, [], {"a": 1}]
FILES = [*PATHS, "nonsense", ".", __file__]
STEPS = [*THINGS, None, -1, 2.5, math.nan, 9, 10**30]
BATCHES = [*THINGS, None, 3, [], (), SOURCE]
SCORES = SimpleNamespace(evaluations=[0.5, 0.7])
ALONE = prepare_accelerator("no")
MODELS = [*THINGS, None, 3, str, lambda: None, lambda batch: floats(B, 5, 2)]
MODELS += [lambda batch: floats(*batch.target_out.shape, 3), lambda batch: batch.target_out]
MODULES = [*THINGS, None, 3, nn.Linear, nn.Linear(1, 1, device="meta")]
CIRCLE = []
CIRCLE.append(CIRCLE)
CARDS = [object(), "nonsense", 3, [], {"a": {1}}, {"a": object()}, {"a": CIRCLE}]
NAMES = [*LISTS, "en", [], [3], [None], [""], {"en"}]
SMALL = {**DatesTask.data, "train": 7, "validation": 5, "test": 3}


class Number:
    def to(self, device):
        return self


def point_loss(model, batch):
    return model.weight.sum()


def in_folder(call):
    """Let a call write where an odd name does no harm."""

    def write(**given):
        (name, path), *rest = given.items()
        named = isinstance(path, str) and path not in ("", ".")
        return call(**{name: Path(FILE).parent / path if named else path}, **dict(rest))

    return write


def wrong_settings(good, **wrong):
    """Settings with one that is wrong, or missing, and what are no settings."""
    missing = [{other: good[other] for other in good if other != name} for name in good]
    changed = [{**good, name: value} for name, values in wrong.items() for value in values]
    return [*THINGS, None, 3, [], {}, *missing, *changed]


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
        sequence_loss,
        {"model": MODEL, "batch": BATCH, "label_smoothing": 0.1},
        {"model": MODELS, "batch": BATCHES, "label_smoothing": SHARES},
    ),
    "r_drop_loss": (
        r_drop_loss,
        {"model": MODEL, "batch": BATCH, "weight": 0.5, "label_smoothing": 0.1},
        {
            "model": MODELS,
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
    "as_path": (as_path, {"path": FILE}, {"path": [*PATHS, b"a", "a\0b", "a\ud800"]}),
    "as_file": (as_file, {"path": FILE}, {"path": [*PATHS, "."]}),
    "try_place": (
        through(try_place, in_folder(try_place)),
        {"path": FILE},
        {"path": [*PATHS, "."]},
    ),
    "clear_parts": (clear_parts, {"path": FILE}, {"path": PATHS}),
    "check_output": (
        through(check_output, in_folder(check_output)),
        {"output": f"{FILE}.new", "overwrite": False},
        {"output": [*PATHS, ".", FILE], "overwrite": [*THINGS, None, 3]},
    ),
    "read_json": (
        partial(read_json, what="text must be JSON"),
        {"text": "{}"},
        {"text": [*LISTS, "nonsense", "[" * 20_000, b"\xff"]},
    ),
    "save_weights": (
        through(save_weights, in_folder(save_weights)),
        {"path": FILE, "model": POINT, "card": {"a": 1}, "small": False},
        {"path": [*PATHS, "."], "model": MODULES, "card": CARDS, "small": FLAGS},
    ),
    "load_weights": (
        load_weights,
        {"path": FILE, "model": POINT},
        {"path": FILES, "model": [*MODULES, nn.Linear(2, 1)]},
    ),
    "shipped_weights": (
        shipped_weights,
        {"name": "bottleneck_none"},
        {"name": [*CHOICES, "", "a" * 999, "../weights/bottleneck_none"]},
    ),
    "quantise": (
        quantise,
        {"tensors": {"weight": floats(2, 3)}},
        {
            "tensors": [
                *THINGS,
                *LISTS,
                {3: floats(2)},
                {"weight": floats(2, 3) * math.nan},
                {"a/scale": floats(2)},
            ]
        },
    ),
    "read_packed": (read_packed, {"path": FILE}, {"path": FILES}),
    "dequantise": (
        dequantise,
        {"packed": quantise({"weight": floats(2, 3)})},
        {"packed": [*THINGS, *LISTS, {3: floats(2)}, {"a/scale": floats(2)}]},
    ),
    "read_weights": (read_weights, {"path": FILE}, {"path": FILES}),
    "load": (
        through(load, lambda path: path is FILE or load(path)),
        {"path": FILE},
        {"path": FILES},
    ),
    "complete": (
        complete,
        {"given": {"task": "dates", "model": {"kind": "Transformer"}}},
        {"given": [*THINGS, None, 3, [], {}, {"task": 3}, {"task": "dates", "seed": -1}]},
    ),
    "read_recipe": (
        read_recipe,
        {"source": "dates-none", "changes": ["seed=3"]},
        {
            "source": [*FILES, None, b"dates-none"],
            "changes": [*LISTS, "seed=3", [3], [None], ["seed"], ["=3"], ["seed=-1"], ["a.b=1"]],
        },
    ),
    "DatesTask": (
        through(DatesTask, lambda data: DatesTask(data).pairs("test")),
        {"data": SMALL},
        {"data": wrong_settings(SMALL, test=COUNTS, locales=NAMES, forms=[*NAMES, ["short"]])},
    ),
    "DatesTask.pairs": (DatesTask(SMALL).pairs, {"split": "test"}, {"split": CHOICES}),
    "CaptionsTask": (
        CaptionsTask,
        {"data": CaptionsTask.data},
        {
            "data": wrong_settings(
                CaptionsTask.data,
                train=[*COUNTS, 29_001],
                vocabulary=COUNTS,
                merge_dropout=SHARES,
                target_merge_dropout=SHARES,
            )
        },
    ),
    "fit": (
        through(fit, partial(fit, progress=False)),
        {
            "model": POINT,
            "batches": [Number()],
            "steps": 1,
            "loss": point_loss,
            "learning_rate": 0.1,
            "clip": 1.0,
            "schedule": None,
            "betas": (0.9, 0.98),
            "weight_decay": 0.1,
            "accelerator": ALONE,
            "evaluate": None,
            "evaluate_at": (),
            "early_stopping": None,
            "snapshots": None,
            "checkpoint": None,
        },
        {
            "model": [*THINGS, None, nn.Linear(1, 1, device="meta")],
            "batches": [*LISTS, [], [3, 3], [None], ["a", "b"]],
            "steps": COUNTS,
            "loss": [*THINGS, None, lambda m, b: 3, lambda m, b: None, lambda m, b: floats(2)],
            "learning_rate": POSITIVES,
            "clip": POSITIVES,
            "schedule": [*THINGS, 3, str, *(lambda step, x=x: x for x in (None, -1, math.nan))],
            "betas": [*THINGS, None, 3, 0.9, [0.9], [0.9, 1], [-0.1, 0.9], ["a", 0.9], "ab"],
            "weight_decay": [*THINGS, None, -1, math.nan, math.inf, [], True],
            "accelerator": [*THINGS, 3, 0, nn.Linear],
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
    "model": ["target", "target_out", "source"],
    "tensors": ["weight"],
    "packed": ["a/scale"],
    "source": ["recipe"],
    "changes": ["change", "recipe", "seed"],
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(
    ENTRIES, SAME
)


@pytest.fixture(autouse=True)
def _accelerate_remembers():
    """Other tests let Accelerate forget its state, which all accelerators share."""
    prepare_accelerator("no")


def test_a_loss_of_nan_logits_is_nan_so_that_training_stops():
    logits = torch.full((B, S, V), math.nan)
    assert cross_entropy(logits, SOURCE).isnan()
