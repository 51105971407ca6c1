"""Do distant keys do harm individually, or by their number? The claims page shows the results.

    python -m studies.ch06.number_of_keys --seeds 0 1 2 3 4
    python -m studies.ch06.number_of_keys --table

The rotary models of `studies.ch06.far_keys` are tested at positions 720 to 767, without retraining,
with three sets of keys. Stored are the accuracies with all keys (`all`); with those at distances
below 48 (`near`); and with equally many keys, namely the correct one and a random choice from
larger distances (`far`).
"""

import torch

from gates2heads.book.ch06.copy_task import LENGTH
from gates2heads.book.studies import Study
from studies.ch06.copy_task import DISTANCES, trained
from studies.ch06.far_keys import FAR, accuracy, distances_between, sampled

SETTINGS = ("rotary",)


def keys(distance: int, draw: torch.Generator) -> dict[str, torch.Tensor | None]:
    """Return the masks (768, 768), by name."""
    apart = distances_between()
    near = apart.abs() < LENGTH
    lots = torch.rand(FAR, FAR, generator=draw).masked_fill(near, -1)
    rank = lots.argsort(1, descending=True).argsort(1)
    right = apart == distance
    far = (rank < near.sum(1, keepdim=True) - 1) & ~near | right
    return {"all": None, "near": near, "far": far}


def run(setting: str, seed: int) -> dict:
    """Train one model for each distance, and test it with each set of keys."""
    tokens, draw = sampled(seed)
    result = {"distances": list(DISTANCES), "all": [], "near": [], "far": []}
    for distance in DISTANCES:
        model = trained(setting, distance, seed)
        for name, mask in keys(distance, draw).items():
            result[name].append(accuracy(model, tokens, distance, mask))
    return result


if __name__ == "__main__":
    Study("ch06/number_of_keys", run, SETTINGS).main()
