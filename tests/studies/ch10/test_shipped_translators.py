"""The study of translators: its kinds of input by hand, what it keeps, and its stored rows."""

import gzip

import numpy as np
import pytest

from gates2heads.book.studies import Study
from gates2heads.data.corpora.multi30k import described_images
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.metrics.chrf import corpus_chrf
from gates2heads.training.recipes.tasks import CaptionsTask
from studies.ch10 import shipped_translators as translators
from studies.ch10.shipped_translators import UNUSUAL, Scores, Translator, described, names, run
from tests.needs import needs_data

TEXT = "Ein weißer Bär läuft über Öl."


def test_unusual_input_by_hand():
    assert {kind: habit(TEXT) for kind, habit in UNUSUAL.items()} == {
        "all capitals": "EIN WEISSER BÄR LÄUFT ÜBER ÖL.",
        "lower case": "ein weißer bär läuft über öl.",
        "no final stop": "Ein weißer Bär läuft über Öl",
        "ae oe ue ss": "Ein weisser Baer laeuft ueber Oel.",
        "white space": "\tEin  weißer  Bär  läuft  über  Öl.\u00a0",
    }


def test_scores_are_those_of_the_metrics():
    written, other = ["A dog runs in snow.", "Two cats"], ["A dog sits.", "Two cats sleep."]
    references = [["A dog runs in the snow.", "A dog is running."], ["Two cats sleep."]]
    told = Scores(references, 0).of(written, other)
    assert told["sentences"] == 2
    for name, score in (("bleu", corpus_bleu), ("chrf", corpus_chrf)):
        value, low, high = told[name]
        assert value == pytest.approx(score(written, references).score, abs=0.005)
        assert low <= value <= high
        gain = value - score(other, references).score
        assert told["over"][name][0] == pytest.approx(gain, abs=0.011)
    same = Scores(references, 0).of(written, written)
    assert same["over"] == {"bleu": [0, 0, 0], "chrf": [0, 0, 0]}
    assert "over" not in Scores(references, 0).of(written)


def test_translations_are_kept(tmp_path, monkeypatch):
    texts = ["Ein Hund läuft.", "Zwei Kinder."]
    first = Translator("translator", tmp_path)
    written = first.write([*texts, texts[0]])
    assert written[0] == written[2]
    monkeypatch.setattr(translators, "write_all", None)  # is not called again
    again = Translator("translator", tmp_path)
    assert again.write(texts) == written[:2]
    assert again.reads == "German"
    for content in (b"", b"text", gzip.compress(b"[]"), gzip.compress(b'{"a": 1}')):
        first.path.write_bytes(content)
        with pytest.raises(ValueError, match="must hold translations"):
            Translator("translator", tmp_path)


@needs_data
def test_descriptions_have_five_references_of_the_same_image():
    images = described_images()
    for reads, places in (("German", (0, 1)), ("English", (1, 0))):
        texts, references = described(reads)
        assert len(texts) == len(references) == 300
        for number in (0, 7, 299):
            assert texts[number] == images[number][places[0]][number % 5]
            assert references[number] == list(images[number][places[1]])


@needs_data
def test_a_run_on_a_few_captions(tmp_path, monkeypatch):
    whole, images = CaptionsTask.pairs, described_images()[:3]
    monkeypatch.setattr(CaptionsTask, "pairs", lambda task, split: whole(task, split)[:3])
    monkeypatch.setattr(translators, "described_images", lambda: images)
    monkeypatch.setattr(translators, "CHECKPOINTS", tmp_path)
    monkeypatch.setattr(translators, "TYPED", 2)
    told = run("translator", 0)
    assert told["reads"] == "German"
    assert [told[part]["sentences"] for part in ("validation", "test", "descriptions")] == [3, 3, 3]
    assert told["unusual"]["as they are"]["sentences"] == 2
    assert told["unusual"]["white space"]["normalised"]["over"]["bleu"] == [0, 0, 0]
    assert told["unusual"]["lower case"]["as typed"] is None  # nothing is normalised there
    assert told["unusual"]["all capitals"]["as typed"]["bleu"][0] < 10


def test_what_is_stored_is_whole():
    rows = Study("ch10/shipped_translators", run, names()).rows()
    for told in (row["result"] for row in rows):
        assert told["validation"]["sentences"] == 1_014
        assert told["test"]["sentences"] == 1_000
        assert told["descriptions"]["sentences"] == 300
        for part in ("validation", "test", "descriptions"):
            for value, low, high in (told[part]["bleu"], told[part]["chrf"]):
                assert low < value < high
        unusual = told["unusual"]
        assert unusual["white space"]["normalised"]["over"]["bleu"] == [0, 0, 0]
        shouted = unusual["all capitals"]
        assert shouted["normalised"]["bleu"][1] > shouted["as typed"]["bleu"][2]
        assert np.isfinite(told["bleu_test"])
