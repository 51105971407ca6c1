"""The study of the gates of trained networks: a run in small, and its two interventions."""

import pytest
import torch

from gates2heads.book.ch01.recall_task import Rememberer, texts
from gates2heads.book.studies import read_study
from gates2heads.layers.recurrent import clamp_gates
from studies.ch01 import trained_gates as study


@pytest.mark.parametrize("setting", ["gru", "lstm, bias 3, /3"])
def test_a_run_in_small(monkeypatch, setting):
    how = study.SETTINGS[setting]._replace(steps=2)
    monkeypatch.setitem(study.SETTINGS, setting, how)
    monkeypatch.setattr(study, "TESTED", 16)
    result = study.run(setting, 1)
    lstm = setting.startswith("lstm")
    assert ("agrees" in result) == ("i = 0" in result["recalled"]) == lstm
    assert 0 < result["kept_before"] < 1
    assert all(0 <= share <= 1 for share in result["recalled"].values())


def test_the_units_that_keep_a_letter_are_counted_by_letter():
    gates = torch.full((3, 4, 5), 0.5)
    gates[0, :, :2] = 0.99  # two units for the letter 6
    gates[1, :, 4] = torch.tensor([1.0, 1.0, 1.0, 0.7])  # on average not above the bound
    assert study.keeping(gates, torch.tensor([6, 1, 1])) == [0, 0, 0, 0, 0, 0, 2, 0]


def test_every_setting_has_its_seeds():
    rows = read_study("ch01/trained_gates")
    for setting in study.SETTINGS:
        assert len({row["seed"] for row in rows if row["setting"] == setting}) >= 3


def test_without_the_candidate_path_nothing_added_depends_on_the_letter():
    """With all gates clamped, only the candidate could bring the letter into the cell state."""
    model = Rememberer("lstm", 5)
    batch = next(texts(2, 3, shortest=3))
    vectors = model.vectors(batch)
    vectors[1, 1:] = vectors[0, 1:]  # other letters, then the same noise
    layer, before = model.recurrent, model.recurrent.weight_hh_l0.clone()

    def cells():
        with torch.no_grad(), clamp_gates(layer, {"forget": 0.0, "input": 1.0, "output": 1.0}):
            return layer(vectors)[1][1][0]

    assert not torch.allclose(*cells())
    with study.without_candidate_path(layer):
        torch.testing.assert_close(*cells())
    assert torch.equal(layer.weight_hh_l0, before)


def test_the_letter_itself_is_read_by_the_unchanged_network():
    model = Rememberer("lstm", 5)
    with torch.no_grad():
        model.readout.weight.copy_(torch.randn(8, 5, generator=torch.Generator().manual_seed(0)))
    batch = next(texts(64, 2, shortest=2))
    layer = model.recurrent
    kept = study.recalled_with(model, batch, clamp_gates(layer, {"forget": 1.0, "input": 0.0}))
    with torch.no_grad():
        hidden, (_, cell) = layer(model.vectors(batch)[:, :1])
        for place in (1, 2):
            with clamp_gates(layer, {"forget": 1.0, "input": 0.0}):
                hidden, state = layer(
                    model.vectors(batch)[:, place : place + 1], initial=(hidden[:, -1][None], cell)
                )
            torch.testing.assert_close(state[1], cell)
        guesses = model.readout(hidden[:, -1]).argmax(-1)
    assert kept == (guesses == batch[:, 0]).double().mean().item()
