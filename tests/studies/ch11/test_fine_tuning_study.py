"""The study of section 11.7: what is trained, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch11.pretraining import untrained
from gates2heads.book.ch11.uses import STEPS, USES
from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from studies.ch11 import fine_tuning as fact_uses
from studies.ch11.fine_tuning import STARTS


@pytest.mark.parametrize(
    ("start", "seed", "how", "wanted"),
    [
        ("ernie", 0, "", {"frozen": False}),
        ("random", 0, "", {"frozen": False}),
        ("random", 2, ", frozen", {"frozen": True}),
        ("random", 2, ", four times the steps", {"frozen": False, "steps": 4 * STEPS}),
    ],
)
def test_the_encoder_starts_as_the_setting_says(monkeypatch, start, seed, how, wanted):
    asked = {}

    def learn(use, encoder, **how):
        asked.update(how, use=use, encoder=encoder)
        return SimpleNamespace(right=[True, False, True])

    monkeypatch.setattr(fact_uses, "learn_use", learn)
    assert fact_uses.run(f"slots {start}{how}", seed) == {"right": 2, "asked": 3}
    begin = shipped("pretrained_ernie").model if start == "ernie" else untrained("ernie", seed)
    mine, theirs = asked.pop("encoder").state_dict(), begin.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert asked == {"use": "slots", "seed": seed, **wanted}


def test_what_is_stored_has_one_order():
    rows = read_study("ch11/fine_tuning")
    for use in USES:
        with_ernie, with_random = (
            [one["right"] for one in results_of(rows, f"{use} {start}")] for start in STARTS
        )
        assert len(with_ernie) == len(with_random) >= 2
        assert min(with_ernie) > max(with_random)
