"""Chapter 10's control of its times: every setting is a recipe, and each has two timings."""

from gates2heads.book.studies import read_study, results_of
from gates2heads.training.recipes.recipe import read_recipe
from studies.ch10 import decoding_times, time_controls


def test_a_setting_changes_a_recipe_of_the_board():
    for rung, changes in time_controls.SETTINGS.values():
        plain, changed = read_recipe(rung), read_recipe(rung, [one.format(16) for one in changes])
        assert (plain["model"] == changed["model"]) == (not changes)


def test_a_changed_model_is_timed(monkeypatch, two_captions):
    monkeypatch.setattr(time_controls.torch, "set_num_threads", lambda count: None)
    ways = {name: decoding_times.Way(1, 1, 1, 1) for name in time_controls.WAYS}
    monkeypatch.setattr(decoding_times, "WAYS", ways)
    told = time_controls.run("GRU, width 256", 0)
    assert told["tokens"] == 3
    assert all(told[f"{way}_ratio"] > 0 for way in time_controls.WAYS)


def test_every_setting_has_two_timings():
    rows = read_study("ch10/time_controls")
    for setting in time_controls.SETTINGS:
        assert len(results_of(rows, setting)) == 2
