"""The study of sections 11.8 and 11.9: what is trained, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch11.pretraining import untrained
from gates2heads.book.ch11.uses import MORE, STEPS, USES
from gates2heads.book.studies import read_study, results_of
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.models.pretraining.answers import AnswerLogits
from studies.ch11 import fine_tuning as fact_uses
from studies.ch11.fine_tuning import STARTS


@pytest.mark.parametrize(
    ("start", "seed", "how", "wanted"),
    [
        ("ernie", 0, "", {"frozen": False}),
        ("random", 0, "", {"frozen": False}),
        ("random", 2, ", frozen", {"frozen": True}),
        ("random", 2, ", four times the steps", {"frozen": False, "steps": 4 * STEPS}),
        ("random", 2, ", three times the rate", {"frozen": False, "rate_factor": 3}),
        ("random", 1, ", as many steps as ERNIE", {"frozen": False, "steps": 5000 + STEPS}),
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


@pytest.mark.parametrize(
    ("setting", "use"), [("passages random", "passages"), ("true passages ernie", "true passages")]
)
def test_passages_are_learned_for_longer_and_asked_about_in_three_ways(monkeypatch, setting, use):
    asked = {}

    def reader(batch):  # says "no answer" to all
        logits = torch.zeros(len(batch), batch.tokens.shape[1])
        logits[:, 0] = 9.0
        return AnswerLogits(logits, logits)

    def learn(use, encoder, **how):
        asked.update(how, use=use)
        examples = MORE[use].examples("test")
        right = [one.label[0] < 0 for one in examples]
        return SimpleNamespace(reader=reader, examples=examples, right=right)

    monkeypatch.setattr(fact_uses, "learn_use", learn)
    told = fact_uses.run(setting, 1)
    assert asked == {"use": use, "seed": 1, "frozen": False, "steps": 40 * STEPS, "redraw": True}
    assert (told["right"], told["asked"]) == (276, 552)
    for name in ("", "true_", "shuffled_"):
        assert told[f"{name}with"] == 0
        assert told[f"{name}with_none"] == told[f"{name}with_asked"] > 0
        assert told[f"{name}without"] == told[f"{name}without_asked"] > 0


def test_what_is_stored_has_one_order():
    rows = read_study("ch11/fine_tuning")
    for use in USES:
        with_ernie, with_random = (
            [one["right"] for one in results_of(rows, f"{use} {start}")] for start in STARTS
        )
        assert len(with_ernie) == len(with_random) >= 2
        assert min(with_ernie) > max(with_random)
