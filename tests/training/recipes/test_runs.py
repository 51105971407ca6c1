"""Runs: from a recipe to weights and back, in full and in mixed precision."""

import json

import pytest
import torch

from gates2heads.decoding.lengths import Power
from gates2heads.training.cards import save_model
from gates2heads.training.checkpoints import read_weights
from gates2heads.training.recipes import runs
from gates2heads.training.recipes.recipe import read_recipe
from gates2heads.training.recipes.runs import (
    Every,
    checkpoint_of,
    evaluate,
    load,
    scores,
    train,
)
from gates2heads.training.snapshots import Snapshots

SMALL = [
    "data.train=97",
    "data.validation=13",
    "data.test=11",
    'data.locales=["en"]',
    'data.forms=["yMMMd"]',
    "training.steps=7",
    "training.warmup=2",
    "training.evaluate_every=3",
    "training.batch_size=5",
]
SIZES = {
    "dates-additive": ["model.embedding_size=5", "model.hidden_size=6"],
    "dates-transformer": ["model.d_model=12", "model.nhead=3", "model.dim_feedforward=13"],
}


def small(name="dates-additive", *changes):
    return read_recipe(name, [*SMALL, *SIZES[name], *changes])


@pytest.mark.parametrize("name", SIZES)
def test_a_card_rebuilds_the_model(tmp_path, name):
    output = tmp_path / "weights" / "one.safetensors"
    card = train(small(name), output, command="as typed", progress=False)
    assert card["steps"] == 7
    assert card["evaluated_at"] == [3, 6, 7]
    assert card["command"] == "as typed"
    assert card["data"] == "CLDR dates, en"
    trained = load(output)
    assert trained.card == json.loads(json.dumps(card))
    assert not trained.model.training
    told = evaluate(trained, "test")
    assert told["exact_match"] == card["scores"]["test"]["exact_match"]
    assert 0 < told["loss"] < 10
    assert [file.name for file in output.parent.iterdir()] == ["one.safetensors"]


def test_the_loss_is_the_mean_over_all_tokens(tmp_path, monkeypatch):
    output = tmp_path / "one.safetensors"
    train(small(), output, command="", progress=False)
    trained = load(output)
    whole = evaluate(trained, "test")["loss"]
    monkeypatch.setattr("gates2heads.training.recipes.runs.READ_AT_ONCE", 3)
    assert evaluate(trained, "test")["loss"] == pytest.approx(whole, abs=1e-5)


def test_scores_count_every_text(monkeypatch):
    """A model that writes the right date for the first 3 of 7 texts, in batches of 2."""
    monkeypatch.setattr("gates2heads.training.recipes.runs.READ_AT_ONCE", 2)
    monkeypatch.setattr(
        "gates2heads.training.recipes.runs.translate",
        lambda model, texts, source, target, max_length: [t if t in "abc" else "" for t in texts],
    )

    class Task:
        max_length = 2

        def score(self, written, wanted):
            return list(zip(written, wanted, strict=True))

    told = scores(None, Task(), None, None, [(letter, letter) for letter in "abcdefg"])
    assert sum(a == b for a, b in told) == 3
    assert len(told) == 7


def test_the_mean_of_the_last_weights_is_kept(tmp_path, monkeypatch):
    seen = []
    keep = Snapshots.keep

    def note(self, step, model):
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        keep(self, step, model)

    monkeypatch.setattr(Snapshots, "keep", note)
    output = tmp_path / "one.safetensors"
    train(small("dates-additive", "training.average=2"), output, command="", progress=False)
    tensors, _ = read_weights(output)
    assert len(seen) == 3  # after the steps 3, 6 and 7
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, (seen[1][name] + seen[2][name]) / 2)
    assert [file.name for file in tmp_path.iterdir()] == ["one.safetensors"]


def test_what_the_recipe_says_reaches_the_training(tmp_path):
    """Each of these settings changes the weights that come out."""
    weights = {}
    for change in (
        "seed=0",
        "training.label_smoothing=0.3",
        "training.schedule=cosine",
        "training.weight_decay=0.5",
        "training.clip=0.01",
    ):
        output = tmp_path / "one.safetensors"
        recipe = small("dates-additive", change)
        train(recipe, output, command="", overwrite=True, progress=False)
        tensors, _ = read_weights(output)
        weights[change] = torch.cat([tensor.flatten() for tensor in tensors.values()])
    plain = weights.pop("seed=0")
    for change, other in weights.items():
        assert not torch.equal(plain, other), change


def test_r_drop_reads_every_batch_twice(tmp_path):
    changes = ["training.r_drop=1.0", "model.dropout=0.5", "training.steps=2"]
    recipe = small("dates-transformer", *changes, "training.warmup=1")
    card = train(recipe, tmp_path / "one.safetensors", command="", progress=False)
    assert card["recipe"]["training"]["r_drop"] == 1.0
    again = small("dates-transformer", *changes[1:], "training.warmup=1")
    train(again, tmp_path / "two.safetensors", command="", progress=False)
    one, two = (read_weights(tmp_path / f"{name}.safetensors")[0] for name in ("one", "two"))
    assert any(not torch.equal(one[name], two[name]) for name in one)


def test_a_beam_searches_as_the_recipe_says(tmp_path, monkeypatch):
    seen = []

    def noted(model, texts, source, target, **search):
        seen.append(search)
        return texts

    output = tmp_path / "one.safetensors"
    changes = ["decoding.width=3", "decoding.length_power=0.5", "training.patience=1"]
    train(small("dates-additive", *changes), output, command="", progress=False)
    monkeypatch.setattr("gates2heads.training.recipes.runs.translate", noted)
    trained = load(output)
    evaluate(trained, "test")
    evaluate(trained, "test", width=1)
    assert seen[0] == {"max_length": 12, "width": 3, "length_rule": Power(0.5)}
    assert seen[1] == {"max_length": 12, "width": 1, "length_rule": Power(0.5)}


def test_early_stopping_reads_the_tasks_measure(tmp_path):
    # An untrained model writes no date right, so no evaluation is better than the first.
    recipe = small("dates-additive", "training.patience=1", "training.steps=50")
    card = train(recipe, tmp_path / "one.safetensors", command="", progress=False)
    assert card["evaluated_at"] == [3, 6]
    assert card["steps"] == 6


@pytest.mark.parametrize("name", SIZES)
def test_bf16_trains_near_full_precision_and_keeps_float32(tmp_path, name):
    from accelerate.state import AcceleratorState, PartialState

    losses = {}
    for precision in ("no", "bf16"):
        AcceleratorState._reset_state()
        PartialState._reset_state()
        output = tmp_path / f"{precision}.safetensors"
        recipe = small(name, f"training.precision={precision}")
        train(recipe, output, command="", progress=False)
        tensors, _ = read_weights(output)
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float32}
        losses[precision] = evaluate(load(output), "validation")["loss"]
    assert losses["bf16"] == pytest.approx(losses["no"], abs=0.1)
    assert losses["bf16"] != losses["no"]


def test_another_recipe_is_another_run(tmp_path):
    output = tmp_path / "one.safetensors"
    assert checkpoint_of(output, small()) == checkpoint_of(output, small())
    assert checkpoint_of(output, small()) != checkpoint_of(
        output, small("dates-additive", "seed=1")
    )
    assert checkpoint_of(output, small()).parent == tmp_path


def test_refuses_a_model_without_a_recipe(tmp_path):
    path = tmp_path / "other.safetensors"
    train(small(), path, command="", progress=False)
    kept = load(path)
    sides = {"source": kept.source, "target": kept.target}
    for card in (
        {},
        {"recipe": 3},
        {"recipe": {"task": "dates", "model": {"kind": "door"}}},
        {"recipe": {**small(), "data": [3]}},
    ):
        save_model(path, kept.model, **sides, card=card)
        with pytest.raises(
            ValueError, match=r"^path .*other\.safetensors cannot be used, its card has no recipe"
        ):
            load(path)
    path.rename(tmp_path / "two\nlines")
    with pytest.raises(ValueError, match=r"^path .*two\\nlines cannot be used, .*$"):
        load(tmp_path / "two\nlines")
    with pytest.raises(FileNotFoundError, match="path must"):
        load(tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match=r"output must"):
        train(small(), tmp_path, command="")


def test_weights_that_are_there_are_replaced_only_when_told_to(tmp_path):
    output = tmp_path / "one.safetensors"
    train(small(), output, command="first", progress=False)
    before = output.read_bytes()
    message = r"output must"
    with pytest.raises(ValueError, match=message):
        train(small(), output, command="second", progress=False)
    assert output.read_bytes() == before
    train(small(), output, command="third", overwrite=True, progress=False)
    assert read_weights(output)[1]["command"] == "third"


def test_a_run_killed_after_writing_its_weights_clears_up(tmp_path, monkeypatch):
    """The weights are there and so is the run: the same command ends it, another is refused."""
    output, recipe = tmp_path / "one.safetensors", small("dates-additive", "training.average=2")
    finish = runs._finish

    def killed(write, keepers):
        write()
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "_finish", killed)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, output, command="", progress=False)
    monkeypatch.setattr(runs, "_finish", finish)
    before, kept = read_weights(output)[0], {file.name for file in tmp_path.iterdir()}
    assert len(kept) == 4  # the weights, the run and two snapshots
    with pytest.raises(ValueError, match="exists already"):
        train(small(), output, command="", progress=False)
    train(recipe, output, command="", progress=False)
    assert [file.name for file in tmp_path.iterdir()] == ["one.safetensors"]
    tensors, _ = read_weights(output)
    assert all(torch.equal(tensors[name], before[name]) for name in before)


def test_what_a_killed_run_left_is_cleared_when_it_begins_anew(tmp_path):
    output, recipe = tmp_path / "y[1].safetensors", small("dates-additive", "training.average=2")
    kept = checkpoint_of(output, recipe)
    own = [f"{output.name}.17.part", f"{kept.name}.17.part"]
    own += [f"{kept.name}.99.safetensors.17.part", f"{kept.name}.99.safetensors"]
    for name in [*own, "y.best.safetensors", f"{kept.name}.best.safetensors"]:
        (tmp_path / name).write_bytes(b"")
    train(recipe, output, command="", progress=False)
    assert {file.name for file in tmp_path.iterdir()} == {
        output.name, "y.best.safetensors", f"{kept.name}.best.safetensors"
    }  # fmt: skip


def test_a_run_is_evaluated_every_so_many_steps_and_at_its_end():
    every = Every(3, 7)
    assert [step for step in range(1, 8) if step in every] == [3, 6, 7]
    assert 2**31 - 1 in Every(1, 2**31 - 1)  # a list of these would not fit into memory
