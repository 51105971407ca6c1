"""Recipes: names, files, changes, and one sentence for what cannot be meant."""

import json

import pytest
import torch

from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.seq2seq import SequenceToSequence
from gates2heads.training.recipes.recipe import (
    MODELS,
    RECIPES,
    blank_model,
    build_model,
    complete,
    read_recipe,
)

PLAIN = {"task": "dates", "model": {"kind": "EncoderDecoder"}}


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_complete_and_builds_its_model(name):
    recipe = read_recipe(name)
    assert complete(recipe) == recipe
    assert json.loads(json.dumps(recipe)) == recipe
    model = build_model(recipe, 11, 11)
    kind = MODELS[recipe["model"]["kind"]]
    assert type(model) is (kind if isinstance(kind, type) else SequenceToSequence)


def test_what_a_recipe_leaves_open_is_the_default():
    recipe = complete(PLAIN)
    assert recipe["seed"] == 0
    assert recipe["data"]["train"] == 30_000
    assert recipe["training"]["batch_size"] == 64
    assert recipe["model"]["score"] == "additive"
    assert "batch_size" not in recipe["model"]


def test_a_file_reads_as_the_same_recipe_by_name(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(read_recipe("dates-transformer")), encoding="utf-8")
    assert read_recipe(str(file)) == read_recipe("dates-transformer")


def test_changes_replace_single_settings_and_leave_the_recipes_alone():
    changes = ["training.steps=7", "seed=3", 'data.locales=["en"]', "model.score=general"]
    recipe = read_recipe("dates-dot", changes)
    assert recipe["training"]["steps"] == 7
    assert recipe["seed"] == 3
    assert recipe["data"]["locales"] == ["en"]
    assert recipe["model"]["score"] == "general"
    assert read_recipe("dates-dot", ["model.score=null"])["model"]["score"] is None
    assert read_recipe("dates-dot") == complete(RECIPES["dates-dot"])
    assert read_recipe("dates-dot")["model"]["score"] == "dot"


def test_the_settings_reach_the_model():
    changes = ["model.d_model=12", "model.nhead=3", "model.num_encoder_layers=1"]
    model = build_model(read_recipe("dates-transformer", changes), 11, 7)
    assert isinstance(model, Transformer)
    assert (model.d_model, len(model.encoder_layers), model.source_size) == (12, 1, 11)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (["steps=7"], ValueError, "recipe has no setting 'steps'; it has task, seed, data, model"),
        (["training.step=7"], ValueError, "training has no setting 'step'; it has steps"),
        (["model.nhead=7"], ValueError, "model has no setting 'nhead'; it has kind, embedding"),
        (["data.size=7"], ValueError, "data has no setting 'size'; it has train"),
        (["task=captions", "data.dropout=0.1"], ValueError, "data has no setting 'dropout'"),
        (["task=none such"], ValueError, "task must"),
        (["task=[]"], ValueError, r"task must"),
        (
            ["model.kind=none such"],
            ValueError,
            "model.kind must",
        ),
        (["model=3"], TypeError, "model must"),
        (["training=3"], TypeError, "training must"),
        (["training.steps=0"], ValueError, "training.steps must"),
        (["training.steps=many"], TypeError, "training.steps must"),
        (["training.batch_size=2.5"], TypeError, "training.batch_size must"),
        (["training.precision=fp8"], ValueError, "training.precision must"),
        (
            ["training.schedule=none such"],
            ValueError,
            "training.schedule must",
        ),
        (["training.r_drop=-1"], ValueError, "training.r_drop must"),
        (["training.label_smoothing=2"], ValueError, r"training.label_smoothing must"),
        (["training.average=0"], ValueError, "training.average must"),
        (["decoding.width=0"], ValueError, "decoding.width must"),
        (["decoding.length_power=x"], TypeError, "decoding.length_power must"),
        (["decoding.depth=3"], ValueError, "decoding has no setting 'depth'; it has width, len"),
        (["seed=-1"], ValueError, "seed must"),
        (["seed=1" + "0" * 30], ValueError, "seed must"),
        (["training.steps"], ValueError, "a change must look like training.steps=100, got 'tra"),
        (["=3"], ValueError, "a change must look like"),
        (
            ["seed=" + "9" * 4_000],
            ValueError,
            "seed must",
        ),
        (["data=" + "[" * 20_000], ValueError, "data must"),
        (["data.locales=[1"], ValueError, "data.locales must"),
        (["model.num_layers=9999"], ValueError, "model has no setting 'num_layers'"),
        (["decoding.width=9999"], ValueError, "decoding.width must"),
        (["training.decay=NaN"], ValueError, r"training.decay must"),
        (["training.learning_rate=1e999"], ValueError, "training.learning_rate must"),
        (["training.clip=-1"], ValueError, "training.clip must"),
        (["training.weight_decay=Infinity"], ValueError, "training.weight_decay must"),
        (["training.warmup=NaN"], TypeError, "training.warmup must"),
        (["training.patience=[]"], TypeError, "training.patience must"),
        (["training.steps=9999999999"], ValueError, "training.steps must"),
        (["task.x=3"], ValueError, "task.x cannot be set: task has no settings"),
    ],
)
def test_refuses_unknown_settings_and_bad_values(changes, error, message):
    with pytest.raises(error, match=message):
        read_recipe("dates-dot", changes)


def test_refuses_what_is_no_recipe(tmp_path):
    with pytest.raises(ValueError, match=r"^recipe must"):
        read_recipe("x")
    file = tmp_path / "broken.json"
    file.write_text("{")
    with pytest.raises(ValueError, match=r"broken\.json must"):
        read_recipe(str(file))
    file.write_text("[" * 20_000)
    with pytest.raises(ValueError, match=r"broken\.json must"):
        read_recipe(str(file))
    file.write_bytes(b"\xff\x00")
    with pytest.raises(ValueError, match=r"broken\.json must"):
        read_recipe(str(file))
    for twice in ('{"task": "dates", "task": "captions"}', '{"data": {"train": 7, "train": 9}}'):
        file.write_text(twice)
        with pytest.raises(ValueError, match=r"in JSON: it holds '(task|train)' more than once$"):
            read_recipe(str(file))
    with pytest.raises(ValueError, match=r"^data must"):
        read_recipe("dates-dot", ['data={"train": 7, "train": 9}'])
    file.write_text("[3]")
    with pytest.raises(TypeError, match=r"recipe must"):
        read_recipe(str(file))
    with pytest.raises(ValueError, match=r"model\.kind must"):
        complete({"task": "dates"})


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("dates-dot", "hidden_size=2000000"),
        ("captions-lstm", "embedding_size=2147480000"),
        ("captions-transformer", "d_model=4000000"),
        ("captions-convolutional", "max_length=2147483646"),
    ],
)
def test_a_model_that_no_memory_holds_is_refused_before_it_is_built(name, setting):
    recipe = read_recipe(name, [f"model.{setting}"])
    with pytest.raises(ValueError, match=r"^model must"):
        build_model(recipe, 11, 11)


def test_a_tower_of_layers_is_refused():
    with pytest.raises(ValueError, match=r"model\.num_layers must"):
        read_recipe("captions-lstm", ["model.num_layers=2000000"])


@pytest.mark.parametrize("name", RECIPES)
def test_a_blank_model_has_the_shapes_and_draws_nothing(name):
    recipe, before = read_recipe(name), torch.get_rng_state()
    blank = blank_model(recipe, 11, 11)
    assert torch.equal(torch.get_rng_state(), before)
    assert {tensor.device.type for tensor in blank.state_dict().values()} == {"meta"}
    shapes = {key: tensor.shape for key, tensor in build_model(recipe, 11, 11).state_dict().items()}
    assert {key: tensor.shape for key, tensor in blank.state_dict().items()} == shapes


def test_a_model_that_hands_options_on_has_its_parent_s_settings():
    recipe = read_recipe("captions-at-once", ["model.d_model=12", "model.slots=7"])
    assert read_recipe("captions-transformer")["model"].keys() < recipe["model"].keys()
    model = build_model(recipe, 11, 11)
    assert (model.slots, model.d_model, model.tie, model.dropout) == (7, 12, "all", 0.25)
    with pytest.raises(ValueError, match="model has no setting 'options'; it has kind, slots, d_m"):
        read_recipe("captions-at-once", ["model.options=3"])
    with pytest.raises(ValueError, match="slots must"):
        build_model(
            read_recipe("captions-at-once", ["model.slots=7", "model.max_length=5"]), 11, 11
        )
