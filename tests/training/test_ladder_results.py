"""The stored ladder: every rung, what repeats it, and each above what is published for its like."""

import json
from pathlib import Path

import pytest

from gates2heads.training.recipes.recipe import RECIPES, read_recipe

ROOT = Path(__file__).resolve().parents[2]
ROWS = json.loads((ROOT / "benchmarks/results/ladder.json").read_text(encoding="utf-8"))
RUNGS = sorted(name for name in RECIPES if name.startswith("captions-"))
# Lower-cased BLEU that teaching material elsewhere reports on the same captions
PUBLISHED = {
    "captions-lstm": 13.76,
    "captions-gru": 20.61,
    "captions-bahdanau": 28.30,
    "captions-convolutional": 34.14,
    "captions-transformer": 36.52,
}


def test_every_rung_is_there_and_no_run_twice():
    runs = [(row["recipe"], row["seed"]) for row in ROWS]
    assert {recipe for recipe, _ in runs} == set(RUNGS)
    assert len(runs) == len(set(runs))


@pytest.mark.parametrize("recipe", RUNGS)
def test_every_rung_ran_three_times(recipe):
    assert {row["seed"] for row in ROWS if row["recipe"] == recipe} >= {0, 1, 2}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['recipe']}-{row['seed']}")
def test_a_row_tells_what_can_be_repeated(row):
    recipe, seed = row["recipe"], row["seed"]
    assert row["command"] == f"python -m gates2heads train {recipe} --set seed={seed}"
    training = read_recipe(recipe)["training"]
    steps, every = training["steps"], training["evaluate_every"]
    assert list(map(int, row["validation"])) == [*range(every, steps, every), steps]
    assert {"device", "threads", "precision"} <= row["machine"].keys()
    assert row["seconds"] > 0
    assert "tok:13a" in row["signature"]
    assert "case:mixed" in row["signature"]
    assert 1 < row["perplexity"] < row["perplexity_free_running"]
    for told in row["test"].values():
        assert 0 < told["bleu"] <= told["bleu_lower_case"] < told["chrf"] < 100
    assert len(row["translations"]) == 10
    assert all(one["translation"] for one in row["translations"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['recipe']}-{row['seed']}")
def test_each_run_beats_what_is_published(row):
    assert row["test"]["width 5"]["bleu_lower_case"] > PUBLISHED.get(row["recipe"], 0)


def test_each_run_with_rotary_positions_beats_each_with_sinusoids_alone():
    with_rotary, without = (
        [row["test"]["width 5"]["bleu"] for row in ROWS if row["recipe"] == recipe]
        for recipe in ("captions-rotary", "captions-transformer")
    )
    assert min(with_rotary) > max(without)


def test_every_run_with_attention_beats_every_run_without():
    scores = {False: [], True: []}
    for row in ROWS:
        attends = row["recipe"] not in ("captions-lstm", "captions-gru")
        scores[attends].append(row["test"]["width 5"]["bleu"])
    assert min(scores[True]) > max(scores[False])
