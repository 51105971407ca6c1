"""The study of how many labels pre-training saves: what is trained, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch11.pretraining import untrained
from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from studies.ch11 import few_labels
from studies.ch11.few_labels import FASTER, LONGER, SETTINGS


@pytest.mark.parametrize(
    ("start", "seed", "labels", "how", "wanted"),
    [
        ("ernie", 0, 8, "", {"steps": 200}),
        ("random", 2, 128, "", {"steps": 200}),
        ("ernie", 1, 32, LONGER, {"steps": 800}),
        ("random", 1, 512, FASTER, {"steps": 200, "rate_factor": 3}),
    ],
)
def test_a_run_learns_as_its_setting_says(monkeypatch, start, seed, labels, how, wanted):
    asked = {}

    def learn(use, encoder, **how):
        asked.update(how, use=use, encoder=encoder)
        return SimpleNamespace(right=[True, False, True])

    monkeypatch.setattr(few_labels, "learn_use", learn)
    assert few_labels.run(f"answers {start}, {labels}{how}", seed) == {"right": 2, "asked": 3}
    begin = shipped("pretrained_ernie").model if start == "ernie" else untrained("ernie", seed)
    mine, theirs = asked.pop("encoder").state_dict(), begin.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert asked == {
        "use": "answers",
        "seed": seed,
        "frozen": False,
        "labels": labels,
        **wanted,
    }


def test_every_setting_is_stored_with_three_seeds():
    rows = read_study("ch11/few_labels")
    for setting in SETTINGS:
        assert len(results_of(rows, setting)) == 3
