"""The study of a mixture of experts: what its models are, and what is stored."""

import pytest
import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.experts import balance_loss, mixtures
from gates2heads.book.studies import read_study, results_of
from gates2heads.data.batches.passages import passage_loss
from studies.ch12 import experts
from studies.ch12.experts import EXPERTS, FACTOR, HIDDEN, SETTINGS, SIZES, loss_of, made


def test_the_sizes_are_compared_as_the_study_says():
    count = {setting: parameters(made(setting)) for setting in SETTINGS}
    routers = SIZES["num_layers"] * SIZES["d_model"] * EXPERTS
    assert count["experts"] == count["unbalanced"] == count["wide"] + routers
    one = 3 * SIZES["d_model"] * HIDDEN * SIZES["num_layers"]
    assert count["wide"] - count["dense"] == (EXPERTS - 1) * one


@pytest.mark.parametrize("setting", SETTINGS)
def test_only_one_setting_has_the_balance_loss(setting):
    torch.manual_seed(0)
    model, passage = made(setting), torch.randint(2_048, (2, 12))
    found = loss_of(setting)(model, passage)
    alone = passage_loss(model.logits, passage)
    added = FACTOR * balance_loss(model) if setting == "experts" else 0.0
    torch.testing.assert_close(found, alone + added)
    assert bool(mixtures(model)) == (setting in ("experts", "unbalanced"))


def test_the_loads_are_shares(monkeypatch):
    class Text:
        tokens = torch.randint(4, 2_048, (3 * 128,))

    monkeypatch.setattr(experts, "python_text", lambda split: Text)
    torch.manual_seed(0)
    found = torch.tensor(experts.loads(made("experts")))
    assert found.shape == (SIZES["num_layers"], EXPERTS)
    torch.testing.assert_close(found.sum(dim=1), torch.ones(SIZES["num_layers"]))


def test_what_is_stored_has_three_seeds_of_every_setting():
    rows = read_study("ch12/experts")
    for setting in SETTINGS:
        results = results_of(rows, setting)
        assert len(results) >= 3
        assert {one["parameters"] for one in results} == {parameters(made(setting))}
        for one in results:
            assert 1 < one["test"] < 3
            for layer in one.get("load", []):
                assert sum(layer) == pytest.approx(1, abs=1e-4)
