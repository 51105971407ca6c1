"""The command of the two released models of section 13.2: what it trains, scores and writes."""

import sys

import pytest

from gates2heads.book.ch13.induction import head_scores, scores
from gates2heads.book.ch13.repeats import held_out
from gates2heads.training.cards import rebuild
from shipping import induction


def test_the_files_hold_the_quantised_models_and_their_scores(tmp_path, monkeypatch, capsys):
    words = ["--steps", "3", "--seed", "2", "--to", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["induction", *words])
    induction.main()
    printed = capsys.readouterr().out
    for name, layers in (("induction_one", 1), ("induction_two", 2)):
        path = tmp_path / f"{name}.safetensors"
        assert f"{path}: {path.stat().st_size:,} bytes" in printed
        told = rebuild(path)
        card, model = told.card, told.model
        assert len(model.layers) == layers
        assert card["command"] == "python -m shipping.induction --steps 3 --seed 2"
        assert (card["seed"], card["steps"], card["tokens"]) == (2, 3, 3 * 32 * 64)
        assert card["parameters"] == sum(one.numel() for one in model.parameters())
        found = scores(model, held_out("random"))
        assert card["random"] == pytest.approx(found._asdict(), abs=1e-6)
        heads = head_scores(model, held_out("random"))
        assert card["prefix_matching"] == pytest.approx(heads.prefix_matching, abs=1e-6)
        assert told.source.decode(told.source.encode("moon Anna river")) == "moon Anna river"
