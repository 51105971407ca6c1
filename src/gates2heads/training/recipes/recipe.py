"""Recipes: what to train on what, and how, as settings that a person can read and change."""

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn

from gates2heads.accepts.shown import in_line, shown
from gates2heads.checks.values import (
    check_choice,
    check_count,
    check_list,
    check_number,
    check_positive,
    check_share,
)
from gates2heads.models.transformer.non_autoregressive import NonAutoregressiveTransformer
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.plain_json import read_json
from gates2heads.training.recipes.book import RECIPES
from gates2heads.training.recipes.tasks import TASKS

MODELS = {
    "EncoderDecoder": EncoderDecoder,
    "Transformer": Transformer,
    "UniversalTransformer": UniversalTransformer,
    "NonAutoregressiveTransformer": NonAutoregressiveTransformer,
    "recurrent": recurrent_translator,
    "convolutional": convolutional_translator,
}
PRECISIONS = ("no", "bf16", "fp16", "auto")
TRAINING = {
    "steps": 400,
    "batch_size": None,  # None is the task's own
    "learning_rate": 5e-3,
    "warmup": 50,  # steps; no more than what the fall leaves
    "schedule": "linear",  # how the rate falls to zero: in a line, or along a cosine
    "decay": 0.3,  # share of the steps in which it falls in a line
    "weight_decay": 0.0,
    "clip": 1.0,
    "label_smoothing": 0.0,
    "r_drop": 0.0,  # weight of the disagreement between two passes; 0 leaves out the second
    "evaluate_every": 100,
    "average": 1,  # the mean of the weights at so many last evaluations is kept
    "patience": None,  # evaluations without improvement before the run stops; None never stops
    "checkpoint_every": 100,
    "precision": "no",  # "auto" is bf16 where the processor computes with it, else "no"
}
MOST_LAYERS = 1_000  # more are a slip of the finger, and take minutes to build
WIDEST = 1_000  # of a beam
COPIES = 4  # of the weights in training: themselves, their gradient, and the two means of AdamW
DECODING = {"width": 1, "length_power": 1.0}  # of a beam: its width k, and α of 1 / L^α


def read_recipe(source: str, changes: Sequence[str] = ()) -> dict:
    """Read a recipe by name or from a JSON file, and fill in what it leaves open.

    Args:
        source: one of `RECIPES`, or the path of a file that holds such an object.
        changes: settings to replace, such as "training.steps=100".

    Returns:
        task, seed, data, model, training and decoding, all settings spelled out.

    Raises:
        TypeError, ValueError: there is no such recipe, it is not JSON, or a setting is unknown.
    """
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source must be the name of a recipe or a path, got {shown(source)}")
    check_list("changes", changes, of="settings such as training.steps=100")
    path = Path(source)
    if source in RECIPES:
        given = deepcopy(RECIPES[source])
    elif path.is_file():
        given = read_json(
            path.read_bytes(), what=f"source {in_line(path)} must hold a recipe in JSON"
        )
    else:
        names = ", ".join(RECIPES)
        raise ValueError(f"recipe must be a JSON file or one of {names}, got {shown(source)}")
    for change in changes:
        _change(given, change)
    return complete(given)


def _change(recipe: Any, change: str) -> None:
    """Replace one setting; a value that is not JSON is taken as a text."""
    if not isinstance(change, str):
        raise TypeError(f"a change must look like training.steps=100, got {shown(change)}")
    name, equals, value = change.partition("=")
    *sections, last = name.split(".")
    if not equals or not all([*sections, last]):
        raise ValueError(f"a change must look like training.steps=100, got {shown(change)}")
    for section in sections:
        recipe = recipe.setdefault(section, {}) if isinstance(recipe, dict) else recipe
    if not isinstance(recipe, dict):
        raise ValueError(f"{name} cannot be set: {'.'.join(sections) or 'recipe'} has no settings")
    if value[:1] in ("[", "{"):  # no text that a setting has begins so
        recipe[last] = read_json(value, what=f"{name} must be JSON")
        return
    try:
        recipe[last] = json.loads(value)
    except ValueError:
        recipe[last] = value


def complete(given: Any) -> dict:
    """Check a recipe's names and fill in the defaults.

    Raises:
        TypeError, ValueError: a section or setting is unknown, or is no object of settings.
    """
    top = {"task": None, "seed": 0, "data": {}, "model": {}, "training": {}, "decoding": {}}
    recipe = _merge("recipe", top, given)
    check_count("seed", recipe["seed"], least=0, most=2**63 - 1)
    task = _choose("task", TASKS, recipe["task"])
    recipe["data"] = _merge("data", task.data, recipe["data"])
    training = {**TRAINING, "batch_size": task.batch_size}
    recipe["training"] = _merge("training", training, recipe["training"])
    _check_training(recipe["training"])
    recipe["decoding"] = _merge("decoding", DECODING, recipe["decoding"])
    check_count("decoding.width", recipe["decoding"]["width"], most=WIDEST)
    check_number("decoding.length_power", recipe["decoding"]["length_power"])
    if not isinstance(recipe["model"], dict):
        raise TypeError(f"model must be an object of settings, got {shown(recipe['model'])}")
    kind = _choose("model.kind", MODELS, recipe["model"].get("kind"))
    recipe["model"] = _merge("model", {"kind": None, **_options(kind)}, recipe["model"])
    for name, value in recipe["model"].items():
        if name.startswith("num_"):
            check_count(f"model.{name}", value, most=MOST_LAYERS)
    return recipe


def _check_training(training: Mapping) -> None:
    for name in ("steps", "batch_size", "evaluate_every", "average", "checkpoint_every"):
        check_count(f"training.{name}", training[name])
    check_choice("training.precision", training["precision"], PRECISIONS)
    check_choice("training.schedule", training["schedule"], ("linear", "cosine"))
    check_count("training.warmup", training["warmup"], least=0)
    if training["patience"] is not None:
        check_count("training.patience", training["patience"])
    for name in ("decay", "label_smoothing"):
        check_share(f"training.{name}", training[name])
    for name in ("learning_rate", "clip"):
        check_positive(f"training.{name}", training[name])
    for name in ("r_drop", "weight_decay"):
        check_number(f"training.{name}", training[name], least=0)


def _options(kind: Callable[..., nn.Module]) -> dict:
    """The keyword arguments of a model, the two vocabulary sizes left out.

    A class with `**options` hands them on to the class that it derives from, and so has its too.
    """
    parameters = inspect.signature(kind).parameters.values()
    own = {one.name: one.default for one in parameters if one.default is not one.empty}
    hands_on = any(one.kind is one.VAR_KEYWORD for one in parameters)
    return {**own, **(_options(kind.__base__) if hands_on else {})}


def _choose(name: str, choices: Mapping, chosen: Any) -> Any:
    if not isinstance(chosen, str) or chosen not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {shown(chosen)}")
    return choices[chosen]


def _merge(name: str, defaults: Mapping, given: Any) -> dict:
    if not isinstance(given, dict):
        raise TypeError(f"{name} must be an object of settings, got {shown(given)}")
    for key in given:
        if key not in defaults:
            raise ValueError(f"{name} has no setting {shown(key)}; it has {', '.join(defaults)}")
    return {**deepcopy(dict(defaults)), **given}


def build_model(recipe: Mapping, source_size: int, target_size: int) -> nn.Module:
    """Build the model of a complete recipe for two vocabulary sizes.

    Raises:
        TypeError, ValueError: a setting does not fit, or the machine has not the memory to train
            such a model.
    """
    blank = blank_model(recipe, source_size, target_size)
    tensors = [*blank.parameters(), *blank.buffers()]
    needed = COPIES * sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    there = psutil.virtual_memory().total
    if needed > there:
        raise ValueError(
            f"model must fit into memory: to train it takes {needed / 2**30:,.1f} GiB, and the "
            f"machine has {there / 2**30:,.1f} GiB"
        )
    return _model(recipe, source_size, target_size)


def blank_model(recipe: Mapping, source_size: int, target_size: int) -> nn.Module:
    """The model without its numbers: names and shapes that take no memory, however large."""
    with torch.device("meta"):
        try:
            return _model(recipe, source_size, target_size)
        except (RuntimeError, OverflowError) as error:  # more numbers than can be counted
            raise ValueError(
                "model must fit into memory, but has more weights than can be counted"
            ) from error


def _model(recipe: Mapping, source_size: int, target_size: int) -> nn.Module:
    settings = {name: value for name, value in recipe["model"].items() if name != "kind"}
    return MODELS[recipe["model"]["kind"]](source_size, target_size, **settings)
