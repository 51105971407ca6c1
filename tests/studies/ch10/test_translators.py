"""The ladder's command: what it tells of a trained model, and what the model wrote."""

import gzip
import json

import pytest

from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.training.recipes.recipe import read_recipe
from studies.ch10 import translators
from tests.needs import needs_data

TINY = [
    "data.train=97",
    "data.validation=3",
    "data.test=13",
    "training.steps=2",
    "data.vocabulary=1000",
]
TINY += ["training.warmup=1", "training.precision=no", "training.evaluate_every=2"]
HEADS = ["model.d_model=12", "model.nhead=3", "model.dim_feedforward=13"]
SIZES = {
    "captions-rnn": ["model.embedding_size=5", "model.hidden_size=6"],
    "captions-universal": HEADS,
    "captions-at-once": HEADS,
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(translators, "RESULTS", tmp_path / "ch10" / "results")
    monkeypatch.setattr(translators, "STUDIES", tmp_path)
    monkeypatch.setattr(translators, "WEIGHTS", tmp_path / "weights")
    return tmp_path / "ch10" / "results"


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("rung", SIZES)
def test_a_rung_is_trained_measured_and_kept(rung, results, monkeypatch, capsys):
    monkeypatch.setattr(
        translators,
        "read_recipe",
        lambda name, changes: read_recipe(name, [*TINY, *SIZES[name], *changes]),
    )
    translators.study().main([rung, "--seeds", "5"])
    (row,) = translators.study().rows()
    assert (row["setting"], row["seed"]) == (rung, 5)
    assert row["command"] == f"python -m studies.ch10.translators {rung} --seeds 5"
    # The time and the machine are those of the training, as the card has them.
    trained = translators.load(translators.WEIGHTS / f"{rung}-5.safetensors")
    assert (row["seconds"], row["machine"]) == (trained.card["seconds"], trained.card["machine"])
    row = row["result"]
    assert row["command"] == f"python -m gates2heads train {rung} --set seed=5"
    at_once = rung == "captions-at-once"
    same = row["perplexity_free_running"] == pytest.approx(row["perplexity"], rel=1e-5)
    assert same == at_once
    written = translators.read_written(rung, 5)
    assert len(written) == 13
    assert row["translations"][0]["translation"] == written[0][1]
    # What is kept is what was scored, in the order of the captions.
    references = [[english] for _, english in trained.task.pairs("test")]
    for width, texts in zip(translators.WIDTHS, zip(*written, strict=True), strict=True):
        told = row["test"][f"width {width}"]["bleu"]
        assert corpus_bleu(list(texts), references).score == pytest.approx(told, abs=1e-9)
    assert f"| {rung} | 5 |" in translators.study().table()


def test_what_was_written_is_read_back_and_the_same_texts_are_the_same_file(results):
    written = [["A dog.", "A dög runs."], ["", "Two men."]]
    translators.store_written("captions-rnn", 3, written)
    place = results / "translators" / "captions-rnn-3.json.gz"
    before = place.read_bytes()
    assert before[4:8] == bytes(4)  # the time of day
    assert json.loads(gzip.decompress(before)) == written
    assert translators.read_written("captions-rnn", 3) == written
    translators.store_written("captions-rnn", 3, written)
    assert place.read_bytes() == before
    assert [file.name for file in place.parent.iterdir()] == ["captions-rnn-3.json.gz"]


def test_the_table_names_the_seeds_that_are_there():
    rows = [row for row in translators.study().rows() if row["setting"] == "captions-lstm"]
    assert "| captions-lstm | 0 2 | 8.3 M |" in translators.table([rows[0], rows[2]])
