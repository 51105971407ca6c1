"""When are all vectors of the small language alike?"""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.studies import read_study, results_of
from studies.ch02 import alike


def test_the_mean_cosine_leaves_out_each_row_with_itself():
    rows = F.normalize(torch.tensor([[1.0, 0], [0, 2], [-1, 0]]), dim=1)
    assert alike.mean_cosine(rows) == pytest.approx(-1 / 3)


def test_every_setting_is_stored_with_five_seeds():
    rows = read_study("ch02/alike")
    assert [(row["setting"], row["seed"]) for row in rows] == [
        (setting, seed) for setting in alike.SETTINGS for seed in range(5)
    ]
    for row in rows:
        one = row["result"]
        assert one["largest"] >= max(one["before"], one["end"])
        assert one["correct"] <= one["of"] == 60


def test_the_stored_phase_is_found_again():
    (stored, *_) = results_of(read_study("ch02/alike"), "one noise word")
    found = alike.run("one noise word", 0)
    assert found["largest"] == pytest.approx(stored["largest"], abs=0.05)
    assert found["correct"] >= 57
