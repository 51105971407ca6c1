"""Runs: from a recipe to a weights file, and from a weights file to a model that can be used."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch import nn

from gates2heads.data.batching import batches
from gates2heads.data.tokenizers import encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.training.checkpoints import (
    TrainingCheckpoint,
    load_weights,
    read_weights,
    save_weights,
)
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.loop import History, fit, run_evaluation
from gates2heads.training.losses import sequence_loss
from gates2heads.training.parallel import on_main, prepare_accelerator
from gates2heads.training.recipes import build_model, complete
from gates2heads.training.schedules import warmup_linear
from gates2heads.training.tasks import TASKS

READ_AT_ONCE = 200  # texts of an evaluation that the model reads in one batch


class Trained(NamedTuple):
    """A model with all that is needed to use it."""

    model: nn.Module
    task: Any  # one of `TASKS`, made
    source: Any  # the tokenizers of the two sides
    target: Any
    card: dict


def scores(model: nn.Module, task, source, target, pairs) -> dict[str, float]:
    """Let the model write greedily, and compare."""
    texts, wanted = zip(*pairs, strict=True)
    written = []
    for start in range(0, len(texts), READ_AT_ONCE):
        some = texts[start : start + READ_AT_ONCE]
        written += translate(model, some, source, target, max_length=task.max_length)
    return task.score(written, wanted)


def checkpoint_of(output: Path, recipe: Mapping) -> Path:
    """Where a run is kept while it lasts; another recipe is another run."""
    name = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:8]
    return output.with_name(f"{output.stem}.{name}.run")


def train(recipe: Mapping, output: Path, *, command: str, progress: bool = True) -> dict:
    """Train what a recipe says and write the weights with their card.

    A run that was interrupted goes on when the same recipe and output are given again. Under
    `torchrun` several processes share the work, and the main one writes.

    Args:
        recipe: from `read_recipe`.
        output: the weights file.
        command: what the reader of the card should type to train the same.
        progress: show a bar.

    Returns:
        the card.

    Raises:
        TypeError, ValueError: a setting of the recipe does not fit, or `output` is a folder.
    """
    if output.is_dir():
        raise ValueError(f"output must name a file, but {output} is a folder")
    task = TASKS[recipe["task"]](recipe["data"])
    pairs = task.pairs("train")
    source, target = task.tokenizers(pairs)
    torch.manual_seed(recipe["seed"])
    model = build_model(recipe, len(source.vocabulary), len(target.vocabulary))
    accelerator = prepare_accelerator(recipe["training"]["precision"])
    kept = TrainingCheckpoint(
        checkpoint_of(output, recipe), every=recipe["training"]["checkpoint_every"]
    )
    score = partial(scores, task=task, source=source, target=target)
    numbered = encode_pairs(pairs, source, target)
    history = _fit(model, task, numbered, score, recipe, kept, accelerator, progress)
    tested = partial(run_evaluation, model, partial(score, pairs=task.pairs("test")))
    card = {
        "data": str(task),
        "command": command,
        "seed": recipe["seed"],
        "scores": {"test": on_main(accelerator, tested)},
        "recipe": recipe,
        **task.to_card(source, target),
        "steps": len(history.loss),
        "evaluated_at": history.evaluated_at,
        "evaluations": history.evaluations,
        "seconds": round(history.seconds, 1),
        "processes": accelerator.num_processes,
    }
    on_main(accelerator, partial(_finish, output, model, card, kept))
    accelerator.end_training()
    return card


def _fit(
    model, task, numbered, score, recipe, kept, accelerator: Accelerator, progress: bool
) -> History:
    """Train on numbered pairs as the recipe's `training` says."""
    how = recipe["training"]
    steps, every, patience = how["steps"], how["evaluate_every"], how["patience"]
    measure = task.measure
    stopping = None if patience is None else EarlyStopping(patience, lambda told: told[measure])
    return fit(
        model,
        task.batches(numbered, how["batch_size"], seed=recipe["seed"]),
        steps=steps,
        loss=sequence_loss,
        learning_rate=how["learning_rate"],
        schedule=warmup_linear(steps, warmup=how["warmup"], decay=how["decay"]),
        weight_decay=how["weight_decay"],
        clip=how["clip"],
        evaluate=partial(score, pairs=task.pairs("validation")),
        evaluate_at=[*range(every, steps, every), steps],
        early_stopping=stopping,
        checkpoint=kept,
        accelerator=accelerator,
        description=recipe["model"]["kind"],
        progress=progress,
    )


def _finish(output: Path, model: nn.Module, card: dict, kept: TrainingCheckpoint) -> None:
    """Write the weights; after that the kept run is not needed any more."""
    save_weights(output, model, card=card)
    kept.path.unlink(missing_ok=True)


def load(path: Path) -> Trained:
    """Rebuild a model from the card inside its weights file.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`, or the card holds no recipe.
    """
    _, card = read_weights(path)
    try:
        recipe = complete(card["recipe"])
        task = TASKS[recipe["task"]](recipe["data"])
        source, target = task.from_card(card)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path} cannot be rebuilt, its card holds no recipe that `train` wrote: {error}"
        ) from error
    model = build_model(recipe, len(source.vocabulary), len(target.vocabulary))
    load_weights(path, model)
    return Trained(model.eval(), task, source, target, card)


def evaluate(trained: Trained, split: str) -> dict[str, float]:
    """Scores of a model on a split, and its loss in nats per token."""
    model, task, source, target, _ = trained
    pairs = task.pairs(split)
    told = scores(model, task, source, target, pairs)
    total = tokens = 0
    with torch.no_grad():
        for batch in batches(encode_pairs(pairs, source, target), READ_AT_ONCE):
            count = int(batch.target_mask.sum())
            total, tokens = total + count * sequence_loss(model, batch).item(), tokens + count
    return {**told, "loss": total / tokens}
