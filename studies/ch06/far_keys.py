"""Why does an encoding fail far beyond the training length? Section 6F G shows the results.

    python -m studies.ch06.far_keys --seeds 0 1 2 3 4
    python -m studies.ch06.far_keys --table

A setting is a positional encoding in the copying task of `studies.ch06.extrapolation`. Every
trained model is tested twice at positions 720 to 767, without retraining. `all` is the accuracy
when every position attends to all keys, `near` when it attends only to keys at distances below 48,
which occurred in training.
"""

import torch

from gates2heads.book.ch06.copy_task import LENGTH, CopyModel
from gates2heads.book.studies import Study
from studies.ch06.copy_task import DISTANCES, trained

SETTINGS = ("rotary", "sinusoidal")
FAR, TESTED = 768, 100


def sampled(seed: int) -> tuple[torch.Tensor, torch.Generator]:
    """Draw the test sequences (B, 768), and give the generator for what is drawn after them."""
    draw = torch.Generator().manual_seed(10**6 + seed)
    return torch.randint(16, (TESTED, FAR), generator=draw), draw


def distances_between() -> torch.Tensor:
    """How far each position (query) is behind each other one (key): (768, 768)."""
    positions = torch.arange(FAR)
    return positions[:, None] - positions


@torch.no_grad()
def accuracy(model: CopyModel, tokens: torch.Tensor, distance: int, mask: torch.Tensor | None):
    """Accuracy at the last 48 positions of sequences (B, 768), under a mask of keys (768, 768)."""
    hits = []
    for part in tokens.split(20):
        mixed = model.mixer(model.places(model.embedding(part)), mask=mask)
        answers = model.readout(mixed).argmax(-1)[:, -LENGTH:]
        hits.append(answers == part[:, FAR - LENGTH - distance : FAR - distance])
    return torch.cat(hits).double().mean().item()


def run(setting: str, seed: int) -> dict:
    """Train one model for each distance, and test it with all keys and with near keys only."""
    tokens, _ = sampled(seed)
    near = distances_between().abs() < LENGTH
    result = {"distances": list(DISTANCES), "all": [], "near": []}
    for distance in DISTANCES:
        model = trained(setting, distance, seed)
        result["all"].append(accuracy(model, tokens, distance, None))
        result["near"].append(accuracy(model, tokens, distance, near))
    return result


if __name__ == "__main__":
    Study("ch06/far_keys", run, SETTINGS).main()
