"""The study of recall in 1,000 batches: a run in small, and what chapter 1 says of the rows."""

from statistics import mean

import pytest

from gates2heads.book.ch01.recall_task import Rememberer, texts
from gates2heads.book.studies import read_study
from studies.ch01 import recall_task as study

ROWS = read_study("ch01/recall_task")


def recalled(setting, distance):
    """The share of letters recalled at a distance, one a seed."""
    results = [row["result"] for row in ROWS if row["setting"] == setting]
    return [one["recalled"][one["distances"].index(distance)] for one in results]


def derivative(setting, when):
    """How much of the last state comes from 80 steps before, one number a seed."""
    return [row["result"][f"influence_{when}"][80] for row in ROWS if row["setting"] == setting]


@pytest.mark.parametrize("setting", ["rnn, orthogonal", "lstm, bias 3, at k alone"])
def test_a_run_in_small(monkeypatch, setting):
    for name, value in (("STEPS", 3), ("TESTED", 11), ("DISTANCES", (2, 5)), ("PROBED", 5)):
        monkeypatch.setattr(study, name, value)
    monkeypatch.setattr(study, "ALONE_AT", 2)
    result = study.run(setting, 1)
    alone = setting in study.ALONE
    assert result["distances"] == ([2] if alone else [2, 5])
    assert len(result["recalled"]) == len(result["distances"])
    for when in ("before", "after"):
        norms = result[f"influence_{when}"]
        assert len(norms) == (0 if alone else 7)  # distances 0 to 6: a letter and five of noise
        assert norms[:1] == ([] if alone else [1.0])


def test_the_probe_is_one_text_at_the_full_distance():
    reader = Rememberer("lstm", 5)
    norms = study.norms(reader, next(texts(1, 7, shortest=7)))
    assert len(norms) == 9
    assert norms == [float(f"{norm:.3g}") for norm in norms]


def test_every_setting_has_its_seeds():
    for setting in study.SETTINGS:
        seeds = [row["seed"] for row in ROWS if row["setting"] == setting]
        assert len(seeds) == len(set(seeds)) >= 3


def test_what_1000_batches_do_for_plain_networks():
    assert min(recalled("rnn", 10)) > 0.98
    assert max(recalled("rnn", 80)) < 0.6
    assert max(recalled("rnn, orthogonal", 80)) < 0.6


def test_what_the_page_says_of_gates():
    for setting in ("gru", "lstm, bias 3"):
        assert min(recalled(setting, 160)) > 0.9
    assert mean(recalled("lstm, bias 0", 160)) < 0.75
    assert min(recalled("gru", 40)) > 0.9
    assert max(recalled("gru, at k alone", 40)) < 0.4
    assert min(derivative("gru", "after")) > 0.01
    assert max(derivative("gru", "before")) < 1e-12
