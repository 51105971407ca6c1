"""average_weights: the mean of each weight, and nothing else."""

import pytest
import torch
from torch import nn

from gates2heads.training.averaging import average_weights
from gates2heads.training.checkpoints import save_weights


class Counted(nn.Module):
    """Two weights, and a counter that is no weight."""

    def __init__(self, weights, count):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weights))
        self.register_buffer("count", torch.tensor(count))


def files(folder, *models):
    paths = [folder / f"{number}.safetensors" for number in range(len(models))]
    for path, model in zip(paths, models, strict=True):
        save_weights(path, model)
    return paths


def test_by_hand(tmp_path):
    # (1 + 2 + 6) / 3 = 3 and (4 − 1 + 0) / 3 = 1; the counter is that of the last.
    models = [Counted([1.0, 4.0], 3), Counted([2.0, -1.0], 5), Counted([6.0, 0.0], 7)]
    mean = average_weights(files(tmp_path, *models))
    torch.testing.assert_close(mean["weight"], torch.tensor([3.0, 1.0]))
    assert mean["count"].item() == 7
    again = Counted([0.0, 0.0], 0)
    again.load_state_dict(mean)
    assert again.count.item() == 7


def test_the_mean_of_one_is_itself(tmp_path, tiny):
    model = tiny()
    mean = average_weights(files(tmp_path, model))
    assert all(torch.equal(mean[name], weight) for name, weight in model.state_dict().items())


def test_a_linear_model_of_the_mean_gives_the_mean_of_the_outputs(tmp_path):
    models, x = [nn.Linear(3, 5) for _ in range(7)], torch.randn(11, 3)
    mean = nn.Linear(3, 5)
    mean.load_state_dict(average_weights(files(tmp_path, *models)))
    expected = torch.stack([model(x) for model in models]).mean(dim=0)
    torch.testing.assert_close(mean(x), expected)


def test_bad_input(tmp_path):
    paths = files(tmp_path, nn.Linear(3, 5), nn.Linear(3, 7))
    with pytest.raises(ValueError, match=r"1\.safetensors is for another model than .*0\.safet"):
        average_weights(paths)
    with pytest.raises(FileNotFoundError, match="path must"):
        average_weights([tmp_path / "none.safetensors"])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_large_weights_of_any_precision_have_a_finite_mean(tmp_path, dtype):
    largest = torch.finfo(dtype).max * (0.5 if dtype == torch.float64 else 1)
    models = [nn.Linear(3, 5).to(dtype) for _ in range(3)]
    for model in models:
        nn.init.constant_(model.weight, largest)
    mean = average_weights(files(tmp_path, *models))
    assert mean["weight"].dtype == dtype
    torch.testing.assert_close(mean["weight"], models[0].weight.detach())


def test_weights_of_another_precision_are_those_of_another_model(tmp_path):
    paths = files(tmp_path, nn.Linear(3, 5), nn.Linear(3, 5).half())
    with pytest.raises(ValueError, match="weights differ in shape or dtype"):
        average_weights(paths)
