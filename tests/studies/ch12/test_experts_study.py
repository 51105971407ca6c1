"""The study of a mixture of experts: what its models are, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch12 import training
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.experts import balance_loss, mixtures
from gates2heads.book.ch12.python_text import PythonText
from gates2heads.book.studies import read_study, results_of
from gates2heads.data.batches.passages import passage_loss
from studies.ch12 import experts
from studies.ch12.experts import (
    EXPERTS,
    FACTOR,
    HIDDEN,
    LONGER,
    MODELS,
    SETTINGS,
    SIZES,
    STEPS,
    loss_of,
    made,
)


def test_the_sizes_are_compared_as_the_study_says():
    count = {setting: parameters(made(setting)) for setting in MODELS}
    routers = SIZES["num_layers"] * SIZES["d_model"] * EXPERTS
    assert count["experts"] == count["unbalanced"] == count["wide"] + routers
    one = 3 * SIZES["d_model"] * HIDDEN * SIZES["num_layers"]
    assert count["wide"] - count["dense"] == (EXPERTS - 1) * one


@pytest.mark.parametrize("setting", MODELS)
def test_only_one_setting_has_the_balance_loss(setting):
    torch.manual_seed(0)
    model, passage = made(setting), torch.randint(2_048, (2, 12))
    found = loss_of(setting)(model, passage)
    alone = passage_loss(model.logits, passage)
    added = FACTOR * balance_loss(model) if setting == "experts" else 0.0
    torch.testing.assert_close(found, alone + added)
    assert bool(mixtures(model)) == (setting in ("experts", "unbalanced"))


def test_the_loads_are_shares(monkeypatch):
    text = PythonText(torch.randint(4, 2_048, (3 * 128,)), 1_000)
    monkeypatch.setattr(experts, "python_text", lambda split: text)
    torch.manual_seed(0)
    found = torch.tensor(experts.loads(made("experts")))
    assert found.shape == (SIZES["num_layers"], EXPERTS)
    torch.testing.assert_close(found.sum(dim=1), torch.ones(SIZES["num_layers"]))


def test_what_is_stored_has_three_seeds_of_every_setting():
    rows = read_study("ch12/experts")
    for setting in {row["setting"] for row in rows} | set(MODELS):
        results, model = results_of(rows, setting), setting.removesuffix(LONGER)
        assert len(results) >= (3 if setting == model else 1)
        assert {one["parameters"] for one in results} == {parameters(made(model))}
        for one in results:
            assert 1 < one["test"] < 3
            for layer in one.get("load", []):
                assert sum(layer) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_run_trains_as_its_setting_says(monkeypatch, setting):
    asked = {}

    text = PythonText(torch.randint(4, 2_048, (3 * 128,)), 1_000)

    def fit(model, batches, *, steps, loss, schedule, **options):
        asked.update(steps=steps, model=model, last=schedule(steps - 1))
        return SimpleNamespace(seconds=1.0)

    monkeypatch.setattr(experts, "python_text", lambda split: text)
    monkeypatch.setattr(training, "fit", fit)
    result = experts.run(setting, 3)
    name = setting.removesuffix(LONGER)
    assert asked["steps"] == (STEPS if name == setting else 4 * STEPS)
    assert 0 < asked["last"] < 1e-3
    torch.manual_seed(3)
    same = made(name).state_dict()
    assert all(torch.equal(one, same[key]) for key, one in asked["model"].state_dict().items())
    assert ("load" in result) == bool(mixtures(asked["model"]))
