"""The studies of chapter 8: by hand, small runs of them, and what is stored of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gates2heads.book.ch08.open_ended import STOPS
from gates2heads.book.studies import Study, read_study
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from studies.ch08 import (
    beam_widths,
    decoding_speed,
    label_smoothing,
    minimum_risk,
    non_autoregressive,
    other_translators,
    repetition,
    sampling,
)

PAIRS = [
    ("Zwei Kinder bauen eine Burg aus Sand.", "Two children build a sand castle."),
    ("Ein Hund schläft.", "A dog is sleeping."),
    ("Eine Frau liest ein Buch.", "A woman reads a book."),
]


@pytest.fixture
def few(monkeypatch):
    """The shipped translator, whose captions are three of our own."""
    trained = load(shipped_weights("translator"))
    task = SimpleNamespace(pairs=lambda split: PAIRS, max_length=40)
    for study in (beam_widths, decoding_speed, label_smoothing, minimum_risk, sampling):
        monkeypatch.setattr(study, "load", lambda path: trained._replace(task=task))
    return trained


# ---- small runs


@pytest.mark.slow
def test_widths_on_three_captions(few, monkeypatch):
    monkeypatch.setattr(beam_widths, "WIDTHS", (1, 2, 5))
    result = beam_widths.run("test", 0)
    assert result["exact"]["proven"] == 3
    one, two, five = result["widths"].values()
    chances = [width["alphas"][0]["log_prob"] for width in (one, two, five)]
    assert chances == pytest.approx(sorted(chances), abs=1e-4)
    assert one["search_errors"] >= five["search_errors"]
    assert five["alphas"][0]["over"].keys() == {1, 2}
    assert one["alphas"][0]["over"] == {}
    assert one["oracle"] <= two["oracle"] <= five["oracle"]
    assert result["nothing"]["likelier"] == 0


@pytest.mark.slow
def test_every_way_to_decode_writes_the_same(few, monkeypatch):
    monkeypatch.setattr(decoding_speed, "CAPTIONS", 3)
    monkeypatch.setattr(decoding_speed, "ROUNDS", 1)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    results = [decoding_speed.run(way, 0) for way in decoding_speed.WAYS]
    assert len({(one["tokens"], one["checksum"]) for one in results}) == 1


@pytest.mark.slow
def test_greedy_search_draws_nothing_and_sampling_repeats(few, monkeypatch):
    monkeypatch.setattr(sampling, "CAPTIONS", 3)
    plain = sampling.run("greedy", 0)
    assert (plain["distinct"], plain["likelier_than_greedy"]) == (1, 0)
    assert plain["self_bleu"] == pytest.approx(100)
    wild = [sampling.run("unmodified", seed) for seed in (0, 0, 1)]
    assert wild[0] == wild[1] != wild[2]
    assert wild[0]["distinct"] > 1


@pytest.mark.slow
def test_minimum_risk_chooses_among_samples_and_repeats(few, monkeypatch):
    monkeypatch.setattr(minimum_risk, "SAMPLES", 4)
    wild, cool = minimum_risk.SAMPLED
    results = [minimum_risk.run(wild, seed) for seed in (0, 0, 1)]
    assert results[0] == results[1] != results[2]
    assert results[0]["captions"] == 3
    assert 1 <= minimum_risk.run(cool, 0)["distinct"] <= 4
    criteria = results[0]["criteria"]
    greedy = criteria[minimum_risk.GREEDY]
    assert greedy["different"] == 0
    chosen = criteria[minimum_risk.RISK_EQUAL]
    gain = chosen["bleu_over"][minimum_risk.GREEDY][0]
    assert gain == pytest.approx(chosen["bleu"] - greedy["bleu"])


@pytest.mark.slow
def test_minimum_risk_chooses_among_the_hypotheses_of_a_beam(few, monkeypatch):
    monkeypatch.setattr(minimum_risk, "WIDTH", 4)
    result = minimum_risk.run("test", 0)
    criteria = result["criteria"]
    assert (result["captions"], len(criteria)) == (3, 5)
    assert criteria[minimum_risk.PROBABLE]["different"] == 0
    assert criteria[minimum_risk.ORACLE]["bleu"] == max(one["bleu"] for one in criteria.values())


@pytest.mark.slow
def test_training_continues_without_label_smoothing(few, monkeypatch):
    monkeypatch.setattr(label_smoothing, "STEPS", 2)
    before = {key: value.clone() for key, value in few.model.state_dict().items()}
    released = label_smoothing.run("released", 0)
    assert (released["captions"], released["steps"]) == (3, 0)
    results = []
    for way in ("label smoothing", "no label smoothing"):
        few.model.load_state_dict(before)
        results.append(label_smoothing.run(way, 0))
    smoothed, plain = results
    assert smoothed["steps"] == plain["steps"] == 2
    assert smoothed["empty_log_prob"] != plain["empty_log_prob"]
    assert not few.model.training


# ---- by hand


def test_who_got_better_by_hand():
    """Of three captions two became likelier: one gained 100 points, one lost 100."""
    scores = {"good": 100.0, "bad": 0.0}
    judge = SimpleNamespace(
        statistics=lambda some: some, of_each=lambda some: np.array([scores[one] for one in some])
    )
    before = [("bad", -5.0), ("good", -4.0), ("bad", -3.0)]
    after = [("good", -4.0), ("bad", -3.0), ("good", -3.0)]
    told = beam_widths.moved(judge, before, after)
    assert told == {"likelier": 2, "better": 1, "worse": 1, "change": 0.0}


def test_each_sample_counts_equally_in_minimum_risk():
    judge = beam_widths.Judge(SimpleNamespace(target=None), [])
    twice = ["a dog sleeps here", "a cat sleeps there", "a cat sleeps there", "a dog runs here"]
    assert minimum_risk.of_samples(judge, twice) == "a cat sleeps there"
    once = ["a dog sleeps here", "two men", "a dog sleeps now"]
    assert minimum_risk.of_samples(judge, once) in (once[0], once[2])
    assert minimum_risk.of_samples(judge, ["", ""]) == ""


def test_dates_are_judged_by_hand():
    year, month, day = 10, 205, 220
    source = torch.tensor([[year, month, day]] * 4)
    end = non_autoregressive.EOS
    written = torch.tensor(
        [
            [day, month, year, end],
            [month, day, year, end],
            [day, day, year, end],
            [month, month, year, end],
        ]
    )
    assert non_autoregressive.judged(written, source, 2) == {"right": 0.5, "twice": 0.5}
    assert non_autoregressive.judged(written, source, 1) == {"right": 0.25, "twice": 0.5}


def test_dates_have_the_orders_that_are_asked_for():
    generator = torch.Generator().manual_seed(0)
    for orders in (1, 2):
        batch = non_autoregressive.drawn(100, orders, generator)
        told = non_autoregressive.judged(batch.target_out, batch.source, orders)
        assert told == {"right": 1.0, "twice": 0.0}
        in_order = (batch.target_out[:, 0] == batch.source[:, 2]).double().mean()
        assert (in_order == 1) == (orders == 1)


def test_repeated_ngrams_by_hand():
    assert repetition.repeated([1, 2, 3, 4, 5]) == 0
    assert repetition.repeated([1, 2, 1, 2, 1, 2], 2) == pytest.approx(3 / 5)


def test_open_ended_outputs_have_no_stops_and_follow_their_seed(monkeypatch):
    monkeypatch.setattr(repetition, "LONGEST", 8)
    writer = repetition.shipped("captions_ngram")
    forbidden = repetition.stops(writer.source.vocabulary.tokens)
    assert len(forbidden) == len(STOPS)
    outputs = [repetition.continued(writer, {}, seed) for seed in (0, 0, 1)]
    assert outputs[0] == outputs[1] != outputs[2]
    human = repetition.joined(writer, ["A dog sleeps.", "A man reads a book."] * 3, 0)
    for tokens in outputs[0] + human:
        assert len(tokens) == 8
        assert not set(tokens) & set(forbidden)


# ---- what is stored


@pytest.mark.parametrize(
    ("study", "settings", "seeds"),
    [
        (beam_widths, ("test", "validation"), (0,)),
        (decoding_speed, decoding_speed.WAYS, (0,)),
        (label_smoothing, label_smoothing.WAYS, (0,)),
        (minimum_risk, minimum_risk.SETTINGS, (0,)),
        (other_translators, other_translators.TRANSLATORS, (0,)),
        (repetition, repetition.WAYS, (0, 1, 2, 3, 4)),
        (sampling, sampling.WAYS, (0, 1, 2)),
        (non_autoregressive, non_autoregressive.SETTINGS, (0, 1, 2)),
    ],
)
def test_every_setting_is_stored_once_for_every_seed(study, settings, seeds):
    name = study.__name__.removeprefix("studies.").replace(".", "/")
    runs = [(row["setting"], row["seed"]) for row in Study(name, study.run, settings).rows()]
    every = [(setting, seed) for setting in settings for seed in seeds]
    assert runs == every


def test_the_settings_are_those_of_the_rows():
    for row in read_study("ch08/beam_widths"):
        result = row["result"]
        assert tuple(map(int, result["widths"])) == beam_widths.WIDTHS
        assert tuple(result["alphas"]) == beam_widths.ALPHAS
        assert result["longest"] == beam_widths.LONGEST
    tested = read_study("ch08/beam_widths")[0]["result"]
    assert tested["exact"]["limit"] == beam_widths.LIMIT
    assert tested["captions"] == 1000


def test_the_numbers_of_minimum_risk_are_those_of_the_rows():
    beam, *sampled = (row["result"] for row in read_study("ch08/minimum_risk"))
    assert (beam["width"], beam["captions"]) == (minimum_risk.WIDTH, 1000)
    for one in sampled:
        assert one["captions"] == minimum_risk.CAPTIONS
        assert one["samples"] == minimum_risk.SAMPLES == minimum_risk.WIDTH
    wild, cool = sampled
    assert wild["distinct"] > cool["distinct"]
    for name in (minimum_risk.GREEDY, minimum_risk.NORMALISED):
        assert wild["criteria"][name]["bleu"] == cool["criteria"][name]["bleu"]


def test_the_probability_rises_with_the_width_and_the_length_falls():
    for row in read_study("ch08/beam_widths"):
        first = [one["alphas"][0] for one in row["result"]["widths"].values()]
        chances = [one["log_prob"] for one in first]
        assert chances == sorted(chances)
        lengths = [one["length_ratio"] for one in first]
        assert lengths == sorted(lengths, reverse=True)


def test_the_exact_search_is_never_beaten():
    tested = read_study("ch08/beam_widths")[0]["result"]
    proof = tested["exact"]
    assert proof["proven"] > 900
    best = proof["on_proven"]["log_prob"]
    assert all(best >= one["log_prob"] - 1e-4 for one in proof["widths_on_proven"].values())
    errors = [one["search_errors_proven"] for one in tested["widths"].values()]
    assert errors == sorted(errors, reverse=True)


def test_a_card_and_a_study_agree_on_the_translator():
    """The card's 43.0 is of refilled places and α = 1.2; kept places give nearly the same."""
    tested = read_study("ch08/beam_widths")[0]["result"]
    card = load(shipped_weights("translator")).card["scores"]["test"]["bleu"]
    at = tested["alphas"].index(1.2)
    assert tested["widths"]["5"]["alphas"][at]["bleu"] == pytest.approx(card, abs=0.3)


def test_the_study_of_translators_agrees_with_that_of_widths():
    plain = read_study("ch08/other_translators")[0]["result"]
    tested = read_study("ch08/beam_widths")[0]["result"]
    five = tested["widths"]["5"]["alphas"][tested["alphas"].index(1.0)]
    assert plain["tuned"] == 1
    assert plain["alphas"]["1"]["bleu"] == pytest.approx(five["bleu"], abs=0.1)
    assert plain["alphas"]["1"]["over"]["1"] == pytest.approx(five["over"]["1"], abs=0.15)
