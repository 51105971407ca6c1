"""The study of learning time: one run in small, and of what is stored, all that chapter 1 says."""

import ast
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean

import nbformat
import pytest
import torch

from gates2heads.book.ch01.recall_task import Rememberer, recall_loss, recalled, texts
from gates2heads.book.studies import read_study
from gates2heads.training.loop import fit
from studies.ch01 import learning_time as study

ROOT = Path(__file__).parents[3]
ROWS = read_study("ch01/learning_time")


def batches(model, distance):
    """The learning time of every seed; None where a run did not arrive."""
    results = [row["result"] for row in ROWS]
    return [
        one["batches"] for one in results if (one["model"], one["distance"]) == (model, distance)
    ]


@pytest.mark.parametrize(
    "setting",
    [
        "rnn, not clipped, 5 steps",
        "gru, distance k only, 5 steps",
        "lstm, bias 3, 5 steps",
        "rnn, identity, letters as noise, 5 steps",
    ],
)
def test_a_run_in_small_that_does_not_arrive(monkeypatch, setting):
    for name, value in (("EVERY", 2), ("CAP", 4), ("VALIDATED", 10), ("TESTED", 20)):
        monkeypatch.setattr(study, name, value)
    result = study.run(setting, 1)
    assert result["model"] == setting.removesuffix(", 5 steps")
    assert (result["distance"], result["cap"], result["batches"]) == (5, 4, None)
    assert 0 <= result["best"] < study.SHARE
    assert 0 <= result["recalled"] <= 1


@pytest.mark.parametrize(("cell", "distance"), [("rnn", 20), ("gru", 7)])
def test_the_loop_of_the_page_and_of_fit_is_that_of_the_study(cell, distance):
    page = nbformat.read(ROOT / "chapters" / "01_recurrent_gates.ipynb", as_version=4)
    code = next(one.source for one in page.cells if one.source.startswith("def train("))
    names = {"torch": torch, "nn": torch.nn, "islice": islice, "sequences": texts}
    names |= {"recall_loss": recall_loss, "recalled": recalled}
    tree = ast.parse(code)
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    exec(compile(tree, "the loop of the page", "exec"), names)
    trained = []
    for loop in (
        lambda model: names["train"](model, distance, 30, seed=3),
        lambda model: list(study.train(model, islice(texts(32, distance, seed=3), 30))),
        lambda model: fit(
            model, texts(32, distance, seed=3), steps=30, loss=recall_loss, learning_rate=0.003
        ),
    ):
        torch.manual_seed(5)
        model = Rememberer(cell)
        loop(model)
        trained.append(model.state_dict())
    for other in trained[1:]:
        assert all(torch.equal(trained[0][name], other[name]) for name in other)


def test_a_run_that_arrives_stops_there(monkeypatch):
    monkeypatch.setattr(study, "SHARE", 0.0)
    monkeypatch.setattr(study, "EVERY", 3)
    result = study.run("gru, 5 steps", 1)
    assert result["batches"] == 3


def test_the_models_of_the_page_have_five_seeds_and_all_arrive():
    for model in ("rnn", "gru", "lstm, bias 1"):
        for distance in (10, 20, 40, 80):
            found = batches(model, distance)
            assert len(found) >= 5
            assert None not in found
    for model in ("rnn, orthogonal", "rnn, identity", "lstm, bias 3"):
        for distance in (40, 80):
            assert len(batches(model, distance)) >= 5
            assert None not in batches(model, distance)
    assert min(row["result"]["recalled"] for row in ROWS if row["result"]["batches"]) > 0.97


def test_the_learning_time_grows_with_the_distance_and_gates_shorten_it():
    for model in ("rnn", "gru"):
        times = [mean(batches(model, distance)) for distance in (10, 20, 40, 80)]
        assert all(near < far for near, far in pairwise(times))
    shares = [mean(batches("gru", k)) / mean(batches("rnn", k)) for k in (10, 80)]
    assert shares[0] > 2 * shares[1]
    assert min(batches("rnn", 80)) > max(batches("gru", 80))
    assert mean(batches("lstm, bias 3", 80)) < mean(batches("gru", 80))


def test_the_identity_is_fast_with_short_sequences_and_a_rotation_without():
    assert mean(batches("rnn, identity", 80)) < mean(batches("gru", 80)) / 1.5
    assert batches("rnn, identity, distance k only", 40).count(None) == 4
    turning = [one for one in batches("rnn, orthogonal, distance k only", 40) if one]
    assert len(turning) == 4
    assert 2 * max(turning) < min(batches("rnn, orthogonal", 40))
    assert max(batches("lstm, bias 3, distance k only", 40)) < 1_000


def test_orthogonal_and_clipping():
    assert abs(mean(batches("rnn, orthogonal", 80)) / mean(batches("rnn", 80)) - 1) < 1 / 3
    assert mean(batches("rnn, not clipped", 40)) > 1.3 * mean(batches("rnn", 40))
    default = mean(batches("rnn, AdamW's defaults", 40))
    assert mean(batches("rnn, AdamW's defaults, not clipped", 40)) > 1.5 * default
    assert mean(batches("rnn, clip 0.001", 40)) < 1.3 * mean(batches("rnn", 40))
