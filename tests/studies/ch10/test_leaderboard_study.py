"""Chapter 10's rows: standings by hand, the studies on few captions, and what is stored."""

import math

import numpy as np
import pytest

from gates2heads.book.ch10.board import RUNGS, standings
from gates2heads.book.studies import read_study, results_of
from gates2heads.book.written import read_written
from gates2heads.metrics.bleu import Bleu, corpus_bleu
from gates2heads.metrics.seeds import seed_interval
from gates2heads.training.recipes.book import RECIPES
from studies.ch10 import decoding_times, leaderboard, step_times
from tests.needs import needs_data

ROWS = read_study("ch10/leaderboard")
STORED = [row for row in ROWS if row["setting"] in RUNGS]
(CAPTIONS,) = results_of(ROWS, "captions")
GERMAN = ["Ein Hund läuft.", "Eine Frau liest ein dickes Buch im Zug und isst dabei."]
ENGLISH = ["A dog is running here.", "A woman reads a thick book on the train while eating."]


def a_row(setting, seed, **result):
    return {"setting": setting, "seed": seed, "result": result}


# ---- standings


def test_every_recipe_of_the_ladder_is_a_rung():
    assert RUNGS.keys() <= RECIPES.keys()


def test_standings_by_hand():
    rows = [a_row("captions-gru", 0, bleu=20.0), a_row("captions-gru", 4, bleu=24.0)]
    found = standings([a_row("captions-transformer", 1, bleu=30.0), *rows])
    assert list(found) == ["captions-gru", "captions-transformer"]
    gru, transformer = found.values()
    assert (gru.seeds, gru.of("bleu"), gru.mean("bleu")) == ([0, 4], [20.0, 24.0], 22.0)
    assert gru.interval("bleu") == seed_interval([20.0, 24.0])
    assert transformer.interval("bleu") is None
    assert not gru.rung.attention
    assert transformer.rung.family == "Transformer"


def test_rows_of_another_study_are_refused():
    with pytest.raises(ValueError, match=r"rows must"):
        standings([a_row("soft", 0)])


def test_an_unknown_measure():
    (gru,) = standings([a_row("captions-gru", 0, bleu=20.0)]).values()
    for call in (gru.of, gru.mean, gru.interval):
        with pytest.raises(ValueError, match="measure must"):
            call("rouge")


# ---- the studies, small


def test_a_study_of_two_captions(monkeypatch):
    monkeypatch.setattr(leaderboard, "captions", lambda: (GERMAN, ENGLISH))
    monkeypatch.setattr(leaderboard, "BINS", ((1, 4), (5, 99)))
    leaderboard.words.cache_clear()
    try:
        texts = [ENGLISH[0], "A man reads a thick book on the train while sleeping."]
        counts = Bleu().statistics(texts, [[text] for text in ENGLISH])
        short, long = leaderboard.by_length(counts)
        assert short == pytest.approx({"bleu": 100, "low": 100, "high": 100})
        assert long["bleu"] == pytest.approx(corpus_bleu(texts[1:], [ENGLISH[1:]]).score)
        # 6 and 12 tokens are wanted, each full stop one of them
        assert leaderboard.times_as_long([ENGLISH[0], "A dog."]) == (6 + 3) / (6 + 12)
        told = leaderboard.of_captions()
        assert told["captions"] == [{"german": GERMAN[0], "reference": ENGLISH[0]}]
        assert (told["words"], told["bins"]) == ("3 11", [[1, 4, 1], [5, 99, 1]])
    finally:
        leaderboard.words.cache_clear()


def test_everything_is_every_rung_and_every_caption_model_with_three_seeds(monkeypatch):
    asked = {}
    monkeypatch.setattr(
        leaderboard.Study, "main", lambda study, words: asked.update({study.name: words})
    )
    leaderboard.everything()
    seeds = ["--seeds", "0", "1", "2"]
    assert asked["ch10/translators"] == asked["ch10/step_times"] == seeds
    assert asked["ch10/decoding_times"] == seeds
    *read, _, _, _, _ = asked["ch03/language_models"]
    assert asked["ch03/language_models"][-4:] == seeds
    assert "captions-5-gram-kneser-ney" in read
    assert all(name.startswith("captions-") for name in read)


@pytest.mark.slow
@needs_data
def test_a_pace_is_told(monkeypatch):
    monkeypatch.setattr(step_times, "ROUNDS", 2)
    monkeypatch.setattr(step_times, "WARM", 1)
    monkeypatch.setattr(step_times.torch, "set_num_threads", lambda count: None)
    step_times.batches.cache_clear()
    told = step_times.run("captions-rnn", 3)
    step_times.batches.cache_clear()
    assert told["seconds_a_step"] > 0
    assert told["ratio"] > 0
    assert told["steps"] > 1000


def test_decoding_is_timed_without_captions(monkeypatch, two_captions):
    monkeypatch.setattr(decoding_times.torch, "set_num_threads", lambda count: None)
    ways = {"greedy": decoding_times.Way(2, 1, 1, 2), "beam": decoding_times.Way(1, 2, 2, 1)}
    monkeypatch.setattr(decoding_times, "WAYS", ways)
    told = decoding_times.run("captions-universal", 0)
    assert told["tokens"] == 3
    for way in ways:
        assert 0 < told[f"{way}_low"] <= told[f"{way}_ratio"] <= told[f"{way}_high"]
        assert told[f"{way}_seconds"] > 0


# ---- what is stored


def test_there_is_a_row_for_each_run_of_the_ladder():
    runs = [(row["setting"], row["seed"]) for row in read_study("ch10/translators")]
    assert [(row["setting"], row["seed"]) for row in STORED] == runs


def test_of_others_texts_there_are_ten_captions():
    assert len(CAPTIONS["captions"]) == 10
    words = list(map(int, CAPTIONS["words"].split()))
    assert len(words) == 1000
    assert [len(one["german"].split()) for one in CAPTIONS["captions"]] == words[::100]
    for least, most, count in CAPTIONS["bins"]:
        assert sum(least <= length <= most for length in words) == count
    assert sum(count for *_, count in CAPTIONS["bins"]) == 1000


def test_texts_and_counts_are_those_of_the_rows():
    written = read_written("ch10/leaderboard")
    words = np.array(list(map(int, CAPTIONS["words"].split())))
    kept = [row for row in STORED if row["result"]["by_length"]]
    assert set(written) == {f"{row['setting']} {row['seed']}" for row in kept}
    scores = {
        (row["setting"], row["seed"]): row["result"]["bleu"]
        for row in read_study("ch10/translators")
    }
    for row in kept:
        one = written[f"{row['setting']} {row['seed']}"]
        assert one.texts[::100] == row["result"]["translations"]
        length, wanted = one.bleu.sum(0)[:2]
        assert row["result"]["times_as_long"]["beam"] == pytest.approx(length / wanted)
        whole = leaderboard.score(one.bleu.sum(0))
        assert whole == pytest.approx(scores[row["setting"], row["seed"]], abs=1e-9)
        for (least, most, _), told in zip(
            CAPTIONS["bins"], row["result"]["by_length"], strict=True
        ):
            some = one.bleu[(least <= words) & (words <= most)]
            assert leaderboard.score(some.sum(0)) == pytest.approx(told["bleu"])
            assert told["low"] < told["bleu"] < told["high"]


def test_decoding_times_are_of_every_model_and_the_clock_agrees_with_itself():
    rows = read_study("ch10/decoding_times")
    assert {row["setting"] for row in rows} == set(RUNGS)
    for told in results_of(rows, decoding_times.BESIDE):
        for way in decoding_times.WAYS:
            assert told[f"{way}_ratio"] == pytest.approx(1, abs=0.15)
    assert len({row["result"]["tokens"] for row in rows}) == 1


def test_the_clock_agrees_with_itself():
    rows = results_of(read_study("ch10/step_times"), step_times.BESIDE)
    for row in rows:  # the GRU beside itself
        assert row["ratio"] == pytest.approx(1, abs=0.1)
    assert {row["setting"] for row in read_study("ch10/step_times")} == set(RUNGS)
    assert all(math.isfinite(row["result"]["ratio"]) for row in read_study("ch10/step_times"))
