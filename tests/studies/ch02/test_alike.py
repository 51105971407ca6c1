"""When are all vectors of the small language alike?"""

import pytest
import torch
import torch.nn.functional as F

from gates2heads.book.studies import read_study, results_of
from studies.ch02 import alike


def test_the_mean_cosine_leaves_out_each_row_with_itself():
    rows = F.normalize(torch.tensor([[1.0, 0], [0, 2], [-1, 0]]), dim=1)
    assert alike.mean_cosine(rows) == pytest.approx(-1 / 3)


def test_correct_neighbours_are_of_the_same_category():
    kinds = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])  # 0 belongs to none
    v = torch.eye(3)[[2, 0, 0, 0, 0, 1, 1, 1, 1]]
    assert alike.correct_neighbours(v, kinds) == 24
    v[4] = v[5]  # 4 is in the other category: its three neighbours are wrong
    assert alike.correct_neighbours(v + 1e-3 * torch.arange(9)[:, None], kinds) <= 21


def test_every_setting_is_stored_with_five_seeds():
    rows = read_study("ch02/alike")
    assert [(row["setting"], row["seed"]) for row in rows] == [
        (setting, seed) for setting in alike.SETTINGS for seed in range(5)
    ]
    for row in rows:
        one = row["result"]
        assert one["largest"] >= max(one["before"], one["end"])
        assert one["halfway"] <= 1
        assert max(one["correct"], one["correct_halfway"]) <= one["of"] == 60


def test_the_stored_phase_is_found_again():
    (stored, *_) = results_of(read_study("ch02/alike"), "one noise word")
    found = alike.run("one noise word", 0)
    assert found["largest"] == pytest.approx(stored["largest"], abs=0.05)
    assert found["correct"] >= 57
