"""Runs: train a recipe, save its parameters, and restore the model."""

import hashlib
import json
import os
from collections.abc import Callable, Container, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, flag
from gates2heads.accepts.shown import in_line
from gates2heads.data.batches.pairs import batches
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.translation import translate
from gates2heads.training.cards import rebuild, save_model
from gates2heads.training.checkpoints import read_weights
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.files import as_file, clear_parts, try_place
from gates2heads.training.loop import History, fit, run_evaluation
from gates2heads.training.losses import r_drop_loss, sequence_loss
from gates2heads.training.parallel import (
    Trainer,
    machine,
    on_main,
    precision_here,
    prepare_accelerator,
)
from gates2heads.training.recipes.recipe import build_model, complete
from gates2heads.training.recipes.tasks import TASKS
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint
from gates2heads.training.schedules import warmup_cosine, warmup_linear
from gates2heads.training.snapshots import Snapshots

READ_AT_ONCE = 200  # texts of an evaluation in one batch


class Every(Container):
    """The steps after which a run is evaluated: at regular intervals, and the last.

    Args:
        every: steps from one evaluation to the next.
        last: the number of steps of the run.
    """

    def __init__(self, every: int, last: int):
        self.every, self.last = every, last

    def __contains__(self, step: object) -> bool:
        return step == self.last or step % self.every == 0


class Trained(NamedTuple):
    """A model with everything needed to use it."""

    model: nn.Module
    task: Any  # an instance of one of `TASKS`
    source: Any  # the tokenizers of the two sides
    target: Any
    card: dict


def scores(model: nn.Module, task, source, target, pairs, **search) -> dict[str, float]:
    """Generate outputs and score them; `search` is passed to `translate`."""
    texts, wanted = zip(*pairs, strict=True)
    return task.score(write_all(model, task, source, target, texts, **search), wanted)


def write_all(model: nn.Module, task, source, target, texts, **search) -> list[str]:
    """Generate an output for each of many texts; `search` is passed to `translate`."""
    # Batches of texts of similar length: little padding, and few unnecessary steps.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    written = [""] * len(texts)
    for start in range(0, len(texts), READ_AT_ONCE):
        some = order[start : start + READ_AT_ONCE]
        read = [texts[number] for number in some]
        answers = translate(model, read, source, target, max_length=task.max_length, **search)
        for number, answer in zip(some, answers, strict=True):
            written[number] = answer
    return written


def search_of(recipe: Mapping) -> dict:
    """The search settings of a trained model, as arguments of `translate`."""
    decoding = recipe["decoding"]
    return {"width": decoding["width"], "length_rule": Power(decoding["length_power"])}


def decoding_of(recipe: Mapping, task) -> dict:
    """The search settings of a trained model, as stored in its file."""
    return {**recipe["decoding"], "max_length": task.max_length}


def checkpoint_of(output: Path, recipe: Mapping) -> Path:
    """The path of a run's checkpoint; another recipe is another run."""
    name = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:8]
    return output.with_name(f"{output.stem}.{name}.run")


def train(
    recipe: Mapping, output: Path, *, command: str, overwrite: bool = False, progress: bool = True
) -> dict:
    """Train a recipe, write the parameters with their card, and return the card.

    An interrupted run is resumed when the same recipe and output are given again. Under
    `torchrun` several processes share the work, and the main one writes.

    Args:
        recipe: from `read_recipe`.
        output: the file of parameters.
        command: the command, stored in the card, that trains the same model.
        overwrite: replace an existing file; otherwise it is an error.
        progress: show a bar.

    Raises:
        TypeError, ValueError: a setting of the recipe is invalid, or `output` is not a valid path.
        OSError: `output` cannot be written.
    """
    output = as_file(output, name="output")
    how, kept = recipe["training"], checkpoint_of(output, recipe)
    keepers = {
        "checkpoint": TrainingCheckpoint(kept, every=how["checkpoint_every"]),
        "snapshots": Snapshots(kept, how["average"]) if how["average"] > 1 else None,
    }
    _prepare(output, recipe, keepers, overwrite)
    task = TASKS[recipe["task"]](recipe["data"])
    pairs = task.pairs("train")
    source, target = task.tokenizers(pairs)
    torch.manual_seed(recipe["seed"])
    model = build_model(recipe, len(source.vocabulary), len(target.vocabulary))
    accelerator = prepare_accelerator(precision_here(how["precision"]))
    batches = task.batches(pairs, source, target, how["batch_size"], seed=recipe["seed"])
    score = partial(scores, task=task, source=source, target=target)
    history = _fit(model, task, batches, score, recipe, accelerator, progress, keepers)
    if keepers["snapshots"]:
        model.load_state_dict(keepers["snapshots"].average())
    results = {
        split: on_main(accelerator, partial(run_evaluation, model, tested))
        for split in ("validation", "test")
        for tested in [partial(score, pairs=task.pairs(split), **search_of(recipe))]
    }
    card = {
        "data": str(task),
        "terms": task.terms,
        "limits": task.limits,
        "command": command,
        "seed": recipe["seed"],
        "scores": results,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "recipe": recipe,
        "steps": len(history.loss),
        "evaluated_at": history.evaluated_at,
        "evaluations": history.evaluations,
        "seconds": round(history.seconds, 1),
        "machine": machine(accelerator),
    }
    made = {"source": source, "target": target, "decoding": decoding_of(recipe, task)}
    write = partial(save_model, output, model, **made, card=card)
    on_main(accelerator, partial(_finish, write, keepers))
    accelerator.end_training()
    return card


@accepts(overwrite=flag)
def check_output(output: str | os.PathLike, *, overwrite: bool) -> None:
    """Reject an invalid output path before training begins.

    Args:
        output: the file of parameters; temporary files of an interrupted writer are deleted.
        overwrite: it may exist already.

    Raises:
        TypeError, ValueError: it is not a regular file, or exists already.
        OSError: it cannot be written.
    """
    output = as_file(output, name="output")
    if output.exists() and not overwrite:
        raise ValueError(
            f"output must be a new file, but {output} exists already; --overwrite replaces it"
        )
    clear_parts(output)
    try_place(output)


def _prepare(output: Path, recipe: Mapping, keepers: Mapping, overwrite: bool) -> None:
    """Check the output path, and the files of an interrupted run there.

    Parameters of the same recipe beside a stored run are those of a run that was interrupted before
    clearing up: it is resumed.
    """
    kept = keepers["checkpoint"].path.exists()
    if keepers["snapshots"] and not kept:
        keepers["snapshots"].clear()  # a new run stores its own
    check_output(output, overwrite=overwrite or (kept and _holds(output, recipe)))


def _holds(output: Path, recipe: Mapping) -> bool:
    """Whether a file of parameters was trained with this recipe."""
    try:
        _, card = read_weights(output)
    except (FileNotFoundError, ValueError):  # none yet, or something else
        return False
    return card.get("recipe") == recipe


def _fit(
    model, task, batches, score, recipe, accelerator: Trainer, progress: bool, keepers: dict
) -> History:
    """Train on endless batches as the recipe's `training` says."""
    how = recipe["training"]
    steps, every, patience = how["steps"], how["evaluate_every"], how["patience"]
    measure = task.measure
    stopping = None if patience is None else EarlyStopping(patience, lambda found: found[measure])
    return fit(
        model,
        batches,
        steps=steps,
        loss=_loss(how),
        learning_rate=how["learning_rate"],
        schedule=_schedule(how),
        weight_decay=how["weight_decay"],
        clip=how["clip"],
        evaluate=partial(score, pairs=task.pairs("validation")),
        evaluate_at=Every(every, steps),
        early_stopping=stopping,
        accelerator=accelerator,
        description=recipe["model"]["kind"],
        progress=progress,
        **keepers,
    )


def _loss(how: Mapping) -> Callable[..., Tensor]:
    smoothing = how["label_smoothing"]
    if how["r_drop"]:
        return partial(r_drop_loss, weight=how["r_drop"], label_smoothing=smoothing)
    return partial(sequence_loss, label_smoothing=smoothing)


def _schedule(how: Mapping) -> Callable[[int], float]:
    if how["schedule"] == "cosine":
        return warmup_cosine(how["steps"], warmup=how["warmup"])
    return warmup_linear(how["steps"], warmup=how["warmup"], decay=how["decay"])


def _finish(write: Callable[[], None], keepers: Mapping) -> None:
    """Write the parameters; afterwards the stored run is not needed any more."""
    write()
    keepers["checkpoint"].path.unlink(missing_ok=True)
    if keepers["snapshots"]:
        keepers["snapshots"].clear()


def load(path: str | os.PathLike) -> Trained:
    """Rebuild a model that a recipe trained, and its task.

    Raises:
        FileNotFoundError, ValueError: as in `rebuild`, or the card contains no recipe.
    """
    model, source, target, _, card = rebuild(path)
    try:
        recipe = card["recipe"] = complete(card["recipe"])
        task = TASKS[recipe["task"]](recipe["data"])
    except Exception as error:  # a card may contain anything
        raise ValueError(
            f"path {in_line(path)} cannot be used, its card has no recipe: {in_line(error)}"
        ) from error
    return Trained(model, task, source, target, card)


def evaluate(trained: Trained, split: str, **search) -> dict[str, float]:
    """Scores of a model on a split, and its loss in nats per token.

    Args:
        trained: from `load`.
        split: "train", "validation" or "test".
        search: search settings that replace those of the recipe; see `translate`.
    """
    model, task, source, target, card = trained
    pairs, search = task.pairs(split), {**search_of(card["recipe"]), **search}
    results = scores(model, task, source, target, pairs, **search)
    return {**results, "loss": loss_of(trained, pairs, sequence_loss)}


def loss_of(trained: Trained, pairs, loss: Callable[..., Tensor]) -> float:
    """The mean of a loss over all target tokens of some pairs."""
    total = tokens = 0
    device = next(trained.model.parameters()).device
    with torch.no_grad():
        for each in batches(encode_pairs(pairs, trained.source, trained.target), READ_AT_ONCE):
            batch = each.to(device)
            count = int(batch.target_mask.sum())
            total, tokens = total + count * loss(trained.model, batch).item(), tokens + count
    return total / tokens
