"""The studies of section 13.2: what is trained, what is stored, and what the rows say."""

import pytest

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.induction import RATE, STEPS, WIDTH, induction_model, scores
from gates2heads.book.studies import read_study, results_of
from studies.ch13 import induction, python_heads


def test_a_run_trains_as_its_setting_says(monkeypatch):
    asked = {}
    train = induction.train_induction

    def shorter(layers, seed, **how):
        asked.update(how, layers=layers, seed=seed)
        return train(layers, seed, **{**how, "steps": 4, "evaluate_at": [2, 4]})

    monkeypatch.setattr(induction, "train_induction", shorter)
    told = induction.run("two layers x3", 7)
    assert (asked["layers"], asked["seed"], asked["steps"]) == (2, 7, STEPS)
    assert asked["rate"] == told["rate"] == pytest.approx(3 * RATE)
    assert list(asked["evaluate_at"])[-1] == STEPS
    assert told["evaluated_at"] == [2, 4]
    assert set(told["history"]) == set(induction.WATCHES)
    assert len(told["heads"]) == len(told["without"]) == len(told["copying"]) == 8


def test_the_settings_attack_rates_and_steps():
    for name, layers in (("one layer", 1), ("two layers", 2)):
        assert induction.SETTINGS[name] == (layers, WIDTH, STEPS, RATE)
        assert induction.SETTINGS[f"{name} /3"] == (layers, WIDTH, STEPS, RATE / 3)
        assert induction.SETTINGS[f"{name} x4 steps"] == (layers, WIDTH, 4 * STEPS, RATE)
    sizes = [parameters(induction_model(2)), parameters(induction_model(1, width=induction.WIDE))]
    assert sizes[0] < sizes[1]


def test_in_every_seed_two_layers_find_repeats_and_one_does_not():
    rows = read_study("ch13/induction")
    for two, one in (("two layers", "one layer"),):
        found, failed = results_of(rows, two), results_of(rows, one)
        assert min(row["random"]["accuracy"] for row in found) > 0.85
        assert max(row["random"]["accuracy"] for row in failed) < 0.06
        assert max(max(row["prefix_matching"]) for row in failed) < 0.15
        for row in found:
            assert row["without_last"][2] < 0.05
            assert row["without_first"][2] < 0.1
            assert row["copying_last"][0] > 0.95


def test_an_induction_head_of_the_released_model_of_python(monkeypatch):
    rows = [row["result"] for row in read_study("ch13/python_heads")]
    for row in rows:
        assert row["best"][0] == ["layers.5.attention", 4]
        assert max(row["prefix_matching"]) > 0.3
        assert row["whole"]["first"] - row["whole"]["repeat"] > 1
        place = row["heads"].index(row["best"][0])
        lost = [without[1] - row["whole"]["repeat"] for without in row["without"]]
        assert lost[place] > 0.7
        assert lost[place] == max(lost)
    few = (2, 6, 1)
    monkeypatch.setattr(python_heads, "SEQUENCES", few[0])
    monkeypatch.setattr(python_heads, "TOKENS", few[1])
    monkeypatch.setattr(
        python_heads, "scores_without", lambda model, found, off: scores(model, found)
    )
    told = python_heads.run("random tokens", few[2])
    assert len(told["heads"]) == 36
    assert len(told["best"]) == len(set(map(tuple, told["best"] + told["others"]))) / 2 == 3
