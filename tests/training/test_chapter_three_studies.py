"""The studies of chapter 3: by hand, a small run, and what is stored."""

import math

import pytest
import torch

from benchmarks import any_order, next_token, unseen
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.display.engine.rebuild import rebuild, shipped
from gates2heads.training.checkpoints import save_weights
from gates2heads.training.studies import read_study, results_of

MODELS = ("ngram", "gru", "transformer")


def test_repeated_and_missing_names_by_hand():
    lists = torch.tensor(
        [[3, 4, 5, 6, 7, 2], [3, 3, 3, 6, 7, 2], [4, 4, 5, 5, 6, 2], [3, 4, 5, 6, 2, 0]]
    )
    found = any_order.counted(lists)
    assert found == {"whole": 0.25, "repeated": (2 + 2) / 4, "missing": (2 + 2 + 1) / 4}


def test_every_list_that_is_drawn_is_whole():
    batch = any_order.drawn(13, torch.Generator().manual_seed(0))
    assert any_order.counted(batch.target_out)["whole"] == 1
    assert torch.equal(batch.target_in[:, 1:], batch.target_out[:, :-1])


def test_a_small_run_of_both_ways(monkeypatch):
    monkeypatch.setattr(any_order, "STEPS", 2)
    monkeypatch.setattr(any_order, "DRAWS", 7)
    for way in any_order.SETTINGS:
        result = any_order.run(way, 0)
        assert 0 <= result["whole"] <= 1
        assert result["bits_per_list"] > 5


@pytest.mark.parametrize("way", any_order.SETTINGS)
def test_three_seeds_are_stored_and_no_bound_is_beaten(way):
    rows = read_study("any_order")
    assert sorted(row["seed"] for row in rows if row["setting"] == way) == [0, 1, 2]
    bound = math.log2(120) if way == "one after the other" else 5 * math.log2(5)
    for run in results_of(rows, way):
        assert bound - 0.01 < run["bits_per_list"] < bound + 0.2


def test_longer_runs_are_rarer():
    rows = read_study("unseen")
    assert [row["setting"] for row in rows] == unseen.SETTINGS
    zero = [row["result"]["captions_of_probability_zero"] for row in rows]
    assert zero == sorted(zero)


@pytest.mark.parametrize("name", MODELS)
def test_the_card_of_a_model_names_what_made_it(name):
    model, source, target, decoding, card = shipped(f"captions_{name}")
    assert source is target
    assert isinstance(source, BPETokenizer)
    assert len(source) == model.vocabulary_size == 4000
    assert decoding == {}
    assert card["command"] == f"python benchmarks/next_token.py {name}"
    assert card["kind"] == type(model).__name__
    if name != "ngram":
        assert card["settings"] == next_token.NETWORKS[name][1]
    assert 4 < card["test_bits_per_token"] < 5.3


def test_no_count_below_two_travels():
    model = shipped("captions_ngram").model
    for size in range(model.order):
        assert getattr(model, f"counts_{size}").min() >= next_token.LEAST == 2


def test_a_card_that_is_no_language_models_is_refused(tmp_path):
    one = shipped("captions_ngram")
    for wrong in ({"settings": {}}, {"tokenizer": "{}"}, {"settings": None}):
        save_weights(tmp_path / "x.safetensors", one.model, card={**one.card, **wrong})
        with pytest.raises(ValueError, match="cannot be rebuilt, its card is no model's"):
            rebuild(tmp_path / "x.safetensors")
