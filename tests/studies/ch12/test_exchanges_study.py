"""The studies of sections 12.2 and 12.4 on Python source: what is trained, and what is stored."""

import math
from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch12.exchanges import BATCH, BIASED, CONTROLS, RATE, SMALL, STEPS, VARIANTS
from gates2heads.book.ch12.python_text import LENGTH, Part
from gates2heads.book.studies import read_study, results_of
from studies.ch12 import exchanges, longer, python_budgets, why_rotary

HISTORY = SimpleNamespace(loss=[float(n) for n in range(STEPS, 0, -1)], seconds=3.0)
SCORES = {"validation": 1.5, "test": 1.25}


@pytest.fixture
def asked(monkeypatch):
    """Nothing is trained and nothing read; what is asked for is kept."""
    found = {}

    def train(*given, **how):
        found.update(how, given=given)
        return torch.nn.Linear(2, 1), HISTORY

    for study, name in (
        (exchanges, "train_variant"),
        (longer, "train_variant"),
        (why_rotary, "train_variant"),
        (python_budgets, "train_python_model"),
    ):
        monkeypatch.setattr(study, name, train)
        monkeypatch.setattr(study, "python_text", lambda split: split)
        monkeypatch.setattr(study, "bits_per_character", lambda model, split, **how: SCORES[split])
    parts = {"pair": Part(0.25, 0.5), "token": Part(0.25, 0.25), "new": Part(0.5, 0.75)}
    monkeypatch.setattr(why_rotary, "bits_by_context", lambda model, split, **how: parts)
    for study in (exchanges, longer, why_rotary):
        monkeypatch.setattr(study, "source_fingerprint", ", ".join)
    return found


@pytest.mark.parametrize(
    ("setting", "variant", "rate"),
    [("rotary", "rotary", RATE), ("llama x3", "llama", 3 * RATE), ("rms /3", "rms", RATE / 3)],
)
def test_a_run_trains_as_its_setting_says(asked, setting, variant, rate):
    told = exchanges.run(setting, 4)
    assert asked == {"given": (variant, 4), "steps": STEPS, "rate": rate}
    assert (told["parameters"], told["steps"], told["rate"]) == (3, STEPS, rate)
    assert (told["validation"], told["test"]) == (1.5, 1.25)
    # twenty means of fifty losses each, which fall from 1,000 to 1
    assert len(told["training"]) == 20
    assert (told["training"][0], told["training"][-1]) == (975.5, 25.5)
    assert told["corpus"].startswith("python, numpy")


def test_the_long_runs_are_four_times_as_long():
    for variant in exchanges.ATTACKED:
        assert exchanges.SETTINGS[f"{variant} {exchanges.LONG}"] == (variant, 4 * STEPS, RATE)
        assert exchanges.SETTINGS[variant] == (variant, STEPS, RATE)


def test_a_small_copy_is_trained_with_its_own_rate(asked):
    told = longer.run("llama 8000 27e-3", 4)
    how = {"steps": 8_000, "batch": longer.BATCH, "rate": 0.027, "sizes": SMALL}
    assert asked == {"given": ("llama", 4), **how}
    assert (told["parameters"], told["validation"], told["test"]) == (3, 1.5, 1.25)
    assert told["tokens"] == 8_000 * longer.BATCH * 128


def test_the_kinds_of_tokens_are_stored_with_their_shares(asked):
    told = why_rotary.run("alibi 9e-3", 2)
    how = {"steps": why_rotary.STEPS, "batch": longer.BATCH, "rate": 0.009, "sizes": SMALL}
    assert asked == {"given": ("alibi", 2), **how}
    assert told["validation"] == told["test"] == 1.5
    assert told["parts"]["new"] == {"share": 0.5, "bits": 0.75}


def test_a_smaller_budget_of_the_released_model(asked):
    told = python_budgets.run("400 steps", 2)
    assert asked == {"given": (400, 2)}
    assert told == {
        "parameters": 3,
        "steps": 400,
        "tokens": 400 * BATCH * LENGTH,
        "test": 1.25,
        "training_seconds": 3.0,
    }


def test_counted_models_by_hand():
    """Two tokens in turn: only their frequencies, or the token before, which decides the next."""
    train = torch.tensor([0, 1] * 50)
    alone, pair, triple = (python_budgets.counted_nats(train, train, n, 2) for n in (1, 2, 3))
    assert alone == pytest.approx(math.log(2))
    # after 0 come 50 times 1 (one kind): (50 + 0.5) / 51; after 1 come 49 times 0: 49.5 / 50
    wanted = -(50 * math.log(50.5 / 51) + 49 * math.log(49.5 / 50)) / 99
    assert pair == pytest.approx(wanted)
    assert triple < pair


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_probabilities_of_a_counted_model_sum_to_one(order):
    torch.manual_seed(0)
    train = torch.randint(5, (60,))
    context = torch.tensor([3, 1])[2 - (order - 1) :]
    nats = [
        python_budgets.counted_nats(train, torch.cat([context, torch.tensor([one])]), order, 5)
        for one in range(5)
    ]
    assert sum(math.exp(-one) for one in nats) == pytest.approx(1)


def test_what_is_stored_has_the_settings_of_the_study():
    rows = read_study("ch12/exchanges")
    wanted = results_of(rows, "gpt2")[0]["parameters"]
    for variant in VARIANTS:
        assert len(results_of(rows, variant)) >= 3
    for control in CONTROLS.keys() - BIASED:  # the others are small copies, see `why_rotary`
        assert len(results_of(rows, control)) >= 1
    for row in rows:
        _, steps, rate = exchanges.SETTINGS[row["setting"]]
        result = row["result"]
        assert (result["steps"], result["rate"]) == (steps, rate)
        assert abs(result["parameters"] / wanted - 1) < 0.002
        assert len(result["training"]) == 20
        assert result["training"][-1] < result["training"][0]
        assert 1 < result["test"] < 2
        assert abs(result["test"] - result["validation"]) < 0.2


def test_what_is_stored_of_longer_training():
    rows = read_study("ch12/longer")
    for row in rows:
        _, steps, rate = longer.SETTINGS[row["setting"]]
        result = row["result"]
        assert (result["steps"], result["rate"]) == (steps, rate)
        assert result["tokens"] == steps * longer.BATCH * SMALL["max_length"]
    sizes = {row["result"]["parameters"] for row in rows}
    assert max(sizes) / min(sizes) < 1.002
    for steps in longer.BUDGETS:
        for setting in (f"gpt2 {steps} 3e-3", f"rotary {steps} 9e-3"):
            assert len(results_of(rows, setting)) == 3
            block = setting.split()[0]
            tried = {
                one["setting"] for one in rows if one["setting"].startswith(f"{block} {steps} ")
            }
            best = min(results_of(rows, one)[0]["validation"] for one in tried)
            assert results_of(rows, setting)[0]["validation"] == best


def test_what_is_stored_of_the_kinds_of_tokens():
    rows = read_study("ch12/why_rotary")
    for row in rows:
        result = row["result"]
        assert result["rate"] == why_rotary.SETTINGS[row["setting"]][1]
        assert sum(part["bits"] for part in result["parts"].values()) == pytest.approx(
            result["test"]
        )
        assert sum(part["share"] for part in result["parts"].values()) == pytest.approx(1)
    for block in why_rotary.BLOCKS:
        for rate in ("3e-3", "9e-3"):
            assert len(results_of(rows, f"{block} {rate}")) == 3
    for setting in ("gpt2 3e-3", "rotary 9e-3", "rotary 3e-3"):  # the same runs, where both exist
        block, rate = setting.split()
        twins = results_of(read_study("ch12/longer"), f"{block} {why_rotary.STEPS} {rate}")
        for here, there in zip(results_of(rows, setting), twins, strict=False):
            assert here["test"] == pytest.approx(there["test"], abs=0.01)


def test_all_models_read_the_same_source():
    names = ("ch12/exchanges", "ch12/longer", "ch12/why_rotary")
    (corpus,) = {row["result"]["corpus"] for name in names for row in read_study(name)}
    assert "networkx" in corpus
    assert "sha256" in corpus
