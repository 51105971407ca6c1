"""Recipes: task, data, model and training as settings that a person can read and change."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import torch
from torch import nn

from gates2heads.accepts import (
    Kind,
    accepts,
    choice,
    fraction,
    maybe,
    natural,
    number,
    positive,
    strings,
)
from gates2heads.accepts.shown import choices, in_line, shown
from gates2heads.models.kinds import KINDS
from gates2heads.models.translation.by_name import convolutional_translator, recurrent_translator
from gates2heads.training.files import as_path
from gates2heads.training.plain_json import read_json
from gates2heads.training.recipes.book import RECIPES
from gates2heads.training.recipes.tasks import TASKS

TRANSLATORS = (
    "EncoderDecoder",
    "Transformer",
    "UniversalTransformer",
    "NonAutoregressiveTransformer",
)
MODELS = {
    **{name: KINDS[name] for name in TRANSLATORS},
    "recurrent": recurrent_translator,
    "convolutional": convolutional_translator,
}
PRECISIONS = ("no", "bf16", "fp16", "auto")
MOST_LAYERS = 1_000  # more are a typing error, and take minutes to build
WIDEST = 1_000  # of a beam
MOST_WEIGHTS = 10**9  # more are a typing error too; training needs 16 bytes for each


def setting(default: Any, kind: Kind) -> Any:
    """A field of a section: its default, and the kind of its values."""
    return field(default=default, metadata={"kind": kind})


@dataclass(kw_only=True)
class Training:
    """The section `training` of a recipe."""

    steps: int = setting(400, natural)
    batch_size: int | None = setting(None, natural)  # None is the task's default
    learning_rate: float = setting(5e-3, positive)
    warmup: int = setting(50, natural(least=0))  # steps; at most those before the decay
    schedule: str = setting("linear", choice(("linear", "cosine")))  # decay to a rate of zero
    decay: float = setting(0.3, fraction)  # of the steps, in which the rate decays linearly
    weight_decay: float = setting(0.0, number(least=0))
    clip: float = setting(1.0, positive)
    label_smoothing: float = setting(0.0, fraction)
    r_drop: float = setting(0.0, number(least=0))  # weight of the divergence of two passes; 0: one
    evaluate_every: int = setting(100, natural)
    average: int = setting(1, natural)  # of the parameters at this many last evaluations
    patience: int | None = setting(None, maybe(natural))  # evaluations without improvement
    checkpoint_every: int = setting(100, natural)
    precision: str = setting("no", choice(PRECISIONS))  # "auto": bf16 where the hardware has it


@dataclass(kw_only=True)
class Decoding:
    """The section `decoding` of a recipe: a beam."""

    width: int = setting(1, natural(most=WIDEST))
    length_power: float = setting(1.0, number)  # α of 1 / L^α


@accepts(changes=strings)
def read_recipe(source: str, changes: Sequence[str] = ()) -> dict:
    """Read a recipe by name or from a JSON file, and fill in the defaults.

    Args:
        source: one of `RECIPES`, or the path of a file with such an object.
        changes: settings to replace, such as "training.steps=100".

    Returns:
        task, seed, data, model, training and decoding, with all settings.

    Raises:
        TypeError, ValueError: the recipe does not exist, is not JSON, or has an unknown setting.
    """
    path = as_path(source, name="source")
    if source in RECIPES:
        given = deepcopy(RECIPES[source])
    elif path.is_file():
        given = read_json(
            path.read_bytes(), what=f"source {in_line(path)} must hold a recipe in JSON"
        )
    else:
        names = choices(list(RECIPES), source)
        raise ValueError(f"recipe must be a JSON file or one of {names}, got {shown(source)}")
    for change in changes:
        _change(given, change)
    return complete(given)


def _change(recipe: Any, change: str) -> None:
    """Replace one setting; a value that is not JSON is taken as a text."""
    name, equals, value = change.partition("=")
    *sections, last = name.split(".")
    if not equals or not all([*sections, last]):
        raise ValueError(f"a change must look like training.steps=100, got {shown(change)}")
    for section in sections:
        recipe = recipe.setdefault(section, {}) if isinstance(recipe, dict) else recipe
    if not isinstance(recipe, dict):
        raise ValueError(f"{name} cannot be set: {'.'.join(sections) or 'recipe'} has no settings")
    if value[:1] in ("[", "{"):  # no setting has a text that begins so
        recipe[last] = read_json(value, what=f"{name} must be JSON")
        return
    try:
        recipe[last] = json.loads(value)
    except ValueError:
        recipe[last] = value


def complete(given: Any) -> dict:
    """Check a recipe's names and fill in the defaults.

    Raises:
        TypeError, ValueError: a section or setting is unknown, or is not an object of settings.
    """
    top = {"task": None, "seed": 0, "data": {}, "model": {}, "training": {}, "decoding": {}}
    recipe = _merge("recipe", top, given)
    natural(least=0, most=2**63 - 1).check("seed", recipe["seed"])
    task = _choose("task", TASKS, recipe["task"])
    recipe["data"] = _merge("data", task.data, recipe["data"])
    training = Training(batch_size=task.batch_size)
    recipe["training"] = _section("training", training, recipe["training"])
    recipe["decoding"] = _section("decoding", Decoding(), recipe["decoding"])
    if not isinstance(recipe["model"], dict):
        raise TypeError(f"model must be an object of settings, got {shown(recipe['model'])}")
    kind = _choose("model.kind", MODELS, recipe["model"].get("kind"))
    recipe["model"] = _merge("model", {"kind": None, **_options(kind)}, recipe["model"])
    for name, value in recipe["model"].items():
        if name.startswith("num_"):
            natural(most=MOST_LAYERS).check(f"model.{name}", value)
    return recipe


def _section(name: str, defaults: Training | Decoding, given: Any) -> dict:
    """A section with its defaults; rejected if a setting is unknown or not of its kind."""
    merged = _merge(name, asdict(defaults), given)
    for one in fields(defaults):
        one.metadata["kind"].check(f"{name}.{one.name}", merged[one.name])
    return merged


def _options(kind: Callable[..., nn.Module]) -> dict:
    """The keyword arguments of a model, without the two vocabulary sizes.

    A class with `**options` passes them to its base class, and so has its arguments too.
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
        TypeError, ValueError: a setting is invalid, or the model has too many parameters.
    """
    blank_model(recipe, source_size, target_size)
    return _model(recipe, source_size, target_size)


@accepts(source_size=natural, target_size=natural)
def blank_model(recipe: Mapping, source_size: int, target_size: int) -> nn.Module:
    """The model without data: names and shapes only, which take no memory.

    Raises:
        TypeError, ValueError: as in `build_model`.
    """
    with torch.device("meta"):
        try:
            blank = _model(recipe, source_size, target_size)
        except (RuntimeError, OverflowError) as error:  # more parameters than can be counted
            raise ValueError(f"model must have at most {MOST_WEIGHTS:,} weights") from error
    weights = sum(tensor.numel() for tensor in (*blank.parameters(), *blank.buffers()))
    if weights > MOST_WEIGHTS:
        raise ValueError(f"model must have at most {MOST_WEIGHTS:,} weights, got {weights:,}")
    return blank


def _model(recipe: Mapping, source_size: int, target_size: int) -> nn.Module:
    settings = {name: value for name, value in recipe["model"].items() if name != "kind"}
    return MODELS[recipe["model"]["kind"]](source_size, target_size, **settings)
