"""Do far keys do harm one by one, or by their number? The claims page shows the results.

    python -m studies.ch06.number_of_keys --seeds 0 1 2 3 4
    python -m studies.ch06.number_of_keys --table

The rotary models of `studies.ch06.far_keys`, tested at positions 720 to 767 with three sets of
keys: all of them (`all`), those at distances below 48 (`near`), and the right key with as many keys
from larger distances, at random, as the second set has in all (`far`). Nothing is retrained.
"""

import torch

from gates2heads.book.ch06.copy_task import LENGTH, Reach, Reader, sequences
from gates2heads.book.studies import Study
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_linear
from studies.ch06.far_keys import BATCH_SIZE, DISTANCES, FAR, RATE, STEPS, TESTED

SETTINGS = ("rotary",)


def keys(distance: int, draw: torch.Generator) -> dict[str, torch.Tensor | None]:
    """Return the masks (768, 768), by name."""
    places = torch.arange(FAR)
    apart = places[:, None] - places
    near = apart.abs() < LENGTH
    lots = torch.rand(FAR, FAR, generator=draw).masked_fill(near, -1)
    rank = lots.argsort(1, descending=True).argsort(1)
    right = apart == distance
    far = (rank < near.sum(1, keepdim=True) - 1) & ~near | right
    return {"all": None, "near": near, "far": far}


@torch.no_grad()
def accuracy(model: Reader, tokens: torch.Tensor, distance: int, mask: torch.Tensor | None):
    """Accuracy at the last 48 positions of sequences (B, 768)."""
    hits = []
    for part in tokens.split(20):
        mixed = model.mixer(model.places(model.embedding(part)), mask=mask)
        answers = model.readout(mixed).argmax(-1)[:, -LENGTH:]
        hits.append(answers == part[:, FAR - LENGTH - distance : FAR - distance])
    return torch.cat(hits).double().mean().item()


def run(setting: str, seed: int) -> dict:
    """Train one model for each distance, and test it with each set of keys."""
    draw = torch.Generator().manual_seed(10**6 + seed)
    tokens = torch.randint(16, (TESTED, FAR), generator=draw)
    result = {"distances": list(DISTANCES), "all": [], "near": [], "far": []}
    for distance in DISTANCES:
        torch.manual_seed(seed)
        task, model = Reach(distance), Reader(setting)
        fit(
            model,
            sequences(BATCH_SIZE, seed=seed),
            steps=STEPS,
            loss=task.loss,
            learning_rate=RATE,
            schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
            description=f"{setting}, distance {distance}, seed {seed}",
        )
        model.eval()
        for name, mask in keys(distance, draw).items():
            result[name].append(accuracy(model, tokens, distance, mask))
    return result


if __name__ == "__main__":
    Study("ch06/number_of_keys", run, SETTINGS).main()
