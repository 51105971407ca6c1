"""The study of section 11.7: what is trained, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from benchmarks import fact_uses
from gates2heads.display.engine.rebuild import shipped
from gates2heads.training.fact_pretraining import untrained
from gates2heads.training.studies import read_study, results_of


@pytest.mark.parametrize(("start", "seed"), [("ernie", 0), ("random", 0), ("random", 2)])
def test_all_weights_learn_from_where_the_setting_says(monkeypatch, start, seed):
    asked = {}

    def learn(use, encoder, **how):
        asked.update(how, use=use, encoder=encoder)
        return SimpleNamespace(right=[True, False, True])

    monkeypatch.setattr(fact_uses, "learn_use", learn)
    assert fact_uses.run(f"slots {start}", seed) == {"right": 2, "asked": 3}
    wanted = shipped("pretrained_ernie").model if start == "ernie" else untrained("ernie", seed)
    mine, theirs = asked.pop("encoder").state_dict(), wanted.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert asked == {"use": "slots", "frozen": False, "seed": seed}


def test_what_is_stored_has_three_seeds_and_one_order():
    rows = read_study("fact_uses")
    for setting in fact_uses.SETTINGS:
        assert len(results_of(rows, setting)) == 3
    for use in fact_uses.FROZEN_ON_THE_PAGE:
        with_ernie, with_random = (
            [one["right"] for one in results_of(rows, f"{use} {start}")]
            for start in ("ernie", "random")
        )
        assert min(with_ernie) > max(with_random)
