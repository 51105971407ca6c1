"""Snapshots: the last weights and no others, and their mean."""

import pytest
import torch
from torch import nn

from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.snapshots import Snapshots


def point(value):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, value)
    return model


def test_the_mean_of_the_last_two_of_three(tmp_path):
    kept = Snapshots(tmp_path / "run", 2)
    # The steps 9, 10 and 11 are in another order as words than as numbers.
    for step, value in [(9, 100.0), (10, 1.0), (11, 2.0)]:
        kept.keep(step, point(value))
    assert [file.name for file in kept.files()] == ["run.10.safetensors", "run.11.safetensors"]
    assert kept.average() == {"weight": torch.tensor([[1.5]])}
    kept.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_step_that_is_done_again_is_kept_once(tmp_path):
    kept = Snapshots(tmp_path / "run", 3)
    for value in (5.0, 7.0):
        kept.keep(3, point(value))
    assert kept.average()["weight"].item() == 7.0


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "run.safetensors").write_text("mine")
    kept = Snapshots(tmp_path / "run", 1)
    kept.keep(3, point(1.0))
    kept.clear()
    assert [file.name for file in tmp_path.iterdir()] == ["run.safetensors"]


def test_training_keeps_the_weights_of_its_evaluations(tmp_path, tiny, stream):
    model, kept = tiny(), Snapshots(tmp_path / "run", 2)
    seen = []

    def evaluate(trained):
        seen.append({name: tensor.clone() for name, tensor in trained.state_dict().items()})

    options = {"steps": 6, "loss": sequence_loss, "learning_rate": 0.02, "progress": False}
    fit(
        model,
        stream(),
        evaluate=lambda m: evaluate(m) or 0,
        evaluate_at=[2, 4, 6],
        snapshots=kept,
        **options,
    )
    assert [file.name for file in kept.files()] == ["run.4.safetensors", "run.6.safetensors"]
    for name, tensor in kept.average().items():
        torch.testing.assert_close(tensor, (seen[1][name] + seen[2][name]) / 2)


def test_bad_input(tmp_path, tiny, stream):
    with pytest.raises(TypeError, match=r"path must"):
        Snapshots(3, 1)
    with pytest.raises(ValueError, match="paths must"):
        Snapshots(tmp_path / "run", 1).average()
    with pytest.raises(ValueError, match="snapshots needs `evaluate` and `evaluate_at`, got none"):
        fit(
            tiny(),
            stream(),
            steps=1,
            loss=sequence_loss,
            learning_rate=0.02,
            snapshots=Snapshots(tmp_path / "run", 1),
        )


def test_the_name_may_hold_what_a_shell_would_read_as_a_pattern(tmp_path):
    (tmp_path / "y.7.safetensors").write_text("mine")
    (tmp_path / "y[1].best.safetensors").write_text("mine")
    kept = Snapshots(tmp_path / "y[1]", 1)
    kept.keep(3, point(1.0))
    kept.keep(5, point(2.0))
    assert kept.average() == {"weight": torch.tensor([[2.0]])}
    kept.clear()
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"y.7.safetensors", "y[1].best.safetensors"}
