"""Does the failure beyond the training length depend on the initial embeddings? Section 6F G.

    python -m studies.ch06.embedding_scale --seeds 0 1 2 3 4 5 6 7
    python -m studies.ch06.embedding_scale --table

The copying task and the models are those of `studies.ch06.extrapolation`, whose token embeddings
have a standard deviation of 1 before training. Here these embeddings are multiplied, before
training, by the factor in the name of the setting; nothing else differs.

`windows` is as in that study. For rotary models, the attention scores of one sequence are measured
at positions 720 to 767: `margin` is the score of the correct key minus the mean score of the keys
at distances of 48 or more, and `noise` is the standard deviation of the scores of those keys.
"""

import torch

from gates2heads.book.ch06.copy_task import LENGTH, CopyModel, CopyTask, sequences
from gates2heads.book.studies import Study
from gates2heads.layers.record import record
from studies.ch06.copy_task import DISTANCES, train
from studies.ch06.extrapolation import ENDS, WINDOWS, accuracy
from studies.ch06.far_keys import FAR, distances_between

SETTINGS = {"rotary 0.25": ("rotary", 0.25), "rotary 1": ("rotary", 1.0)}
SETTINGS |= {"sinusoidal 0.25": ("sinusoidal", 0.25)}


@torch.no_grad()
def scores(model: CopyModel, distance: int, seed: int) -> tuple[float, float]:
    """How far the right key is above the far keys, and how much those vary."""
    tokens = next(sequences(1, length=FAR, seed=10**6 + seed))
    with record(model) as trace:
        model(tokens)
    (weights,) = trace["mixer"]["weights"]
    logs = weights[0, 0].double().clamp_min(1e-300).log()  # scores, but for one number in each row
    apart = distances_between()
    rows = torch.arange(FAR - LENGTH, FAR)
    right = logs[rows, rows - distance]
    far = [logs[row][apart[row].abs() >= LENGTH] for row in rows]
    margin = torch.stack([one - others.mean() for one, others in zip(right, far, strict=True)])
    noise = torch.stack([others.std() for others in far])
    return margin.mean().item(), noise.mean().item()


def run(setting: str, seed: int) -> dict:
    """Train a model with one encoding and one size of the embeddings for each distance."""
    kind, factor = SETTINGS[setting]
    result = {"distances": list(DISTANCES), "windows": {name: [] for name in WINDOWS}}
    if kind == "rotary":
        result |= {"margin": [], "noise": []}
    for distance in DISTANCES:
        torch.manual_seed(seed)
        task, model = CopyTask(distance), CopyModel(kind)
        with torch.no_grad():
            model.embedding.weight *= factor
        train(model, task, seed=seed, description=f"{setting}, distance {distance}, seed {seed}")
        for window in ENDS:
            result["windows"][window].append(accuracy(model, task, window, seed))
        if kind == "rotary":
            margin, noise = scores(model, distance, seed)
            result["margin"].append(margin)
            result["noise"].append(noise)
    return result


if __name__ == "__main__":
    Study("ch06/embedding_scale", run, SETTINGS).main()
