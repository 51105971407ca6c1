"""The study of section 12.1: what is trained, and what is stored."""

from types import SimpleNamespace

import pytest
import torch

from gates2heads.book.ch12.dates import (
    BATCH,
    KINDS,
    RATE,
    STEPS,
    date_pairs,
    join,
    predicted,
)
from gates2heads.book.studies import read_study, results_of
from studies.ch12 import encoder_dropped
from studies.ch12.encoder_dropped import FEW, LONG, MANY, SETTINGS, run


@pytest.mark.parametrize(
    ("setting", "steps", "rate", "size"),
    [
        ("prefix", STEPS, RATE, BATCH),
        ("causal x3", STEPS, 3 * RATE, BATCH),
        ("causal-all /3", STEPS, RATE / 3, BATCH),
        (f"encoder-decoder {LONG}", 4 * STEPS, RATE, BATCH),
        (f"causal {MANY}", STEPS, RATE, MANY),
        (f"causal-all {FEW}", STEPS, RATE, FEW),
        ("causal xavier", STEPS, RATE, BATCH),
        ("prefix xavier x3", STEPS, 3 * RATE, BATCH),
        ("encoder-decoder small", STEPS, RATE, BATCH),
    ],
)
def test_a_run_trains_as_its_setting_says(monkeypatch, setting, steps, rate, size):
    asked = {}

    def train(kind, seed, **how):
        asked.update(how, kind=kind, seed=seed)
        history = SimpleNamespace(evaluated_at=[1, 2], evaluations=[0.25, 0.5], seconds=3.0)
        return torch.nn.Linear(2, 1), history

    monkeypatch.setattr(encoder_dropped, "train_on_dates", train)
    told = run(setting, 5)
    kind, *changes = setting.split()
    weights = ({"xavier", "small"} & set(changes) or {"own"}).pop()
    given = {"kind": kind, "seed": 5, "steps": steps, "rate": rate, "size": size}
    assert asked == given | {"weights": weights}
    assert told == {
        "parameters": 3,
        "rate": rate,
        "steps": [1, 2],
        "right": [0.25, 0.5],
        "last": 0.5,
        "training_seconds": 3.0,
    }


def test_every_kind_has_every_attack():
    changes = ("", " x3", " /3", f" {LONG}", " small")
    expected = {f"{kind}{change}" for kind in KINDS for change in changes}
    expected |= {f"causal {MANY}", f"causal-all {FEW}"}
    expected |= {f"{kind} xavier{rate}" for kind in KINDS[1:] for rate in ("", " x3")}
    assert SETTINGS.keys() == expected


def test_the_other_batch_sizes_make_the_numbers_of_positions_equal():
    joined = join(date_pairs().train[:2000])
    whole, target = (predicted(kind, joined).sum() for kind in ("causal-all", "causal"))
    assert round((BATCH * whole / target).item()) == MANY
    assert round((BATCH * target / whole).item()) == FEW


def test_what_is_stored_has_the_settings_of_the_study():
    rows = read_study("ch12/encoder_dropped")
    assert all(len(results_of(rows, kind)) == 5 for kind in KINDS)
    sizes = set()
    for row in rows:
        _, steps, rate, _ = SETTINGS[row["setting"]]
        result = row["result"]
        assert result["rate"] == rate
        assert result["steps"] == [steps * part // 8 for part in (2, 3, 4, 6, 8)]
        assert len(result["right"]) == len(result["steps"])
        assert result["last"] == result["right"][-1]
        assert all(0 <= share <= 1 for share in result["right"])
        sizes.add(result["parameters"])
    assert max(sizes) <= 1.01 * min(sizes)
