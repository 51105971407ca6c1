"""How far does each kind of layer carry information? See sections 6.1, 6.6 and 6F D.

    python -m studies.ch06.copy_task --seeds 0 1 2 3 4
    python -m studies.ch06.copy_task --table

A setting is a model of `gates2heads.book.ch06.copy_task`. For each distance d, it is trained from
scratch to output the token d positions earlier, on 300 batches of 32 random sequences of 48 tokens.
The settings with 2000 in their names are trained on 2,000 batches; those with a learning rate use
it instead of 0.003. `right` is the accuracy on 200 new sequences, for each distance. `beyond` is
the accuracy at positions 48 to 95 of longer sequences; a learned table of 48 positions has no rows
for them.
"""

import torch

from gates2heads.book.ch06.copy_task import KINDS, LENGTH, CopyModel, CopyTask, sequences
from gates2heads.book.studies import Study
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_linear

STEPS, LONG, RATE = 300, 2000, 3e-3
BATCH_SIZE, TESTED = 32, 200
DISTANCES = (1, 4, 8, 16, 32)
SETTINGS = {
    **{kind: (kind, STEPS, RATE) for kind in KINDS},
    **{f"{kind} {LONG}": (kind, LONG, RATE) for kind in KINDS},
    **{
        f"{kind} {LONG} at {rate}": (kind, LONG, rate)
        for kind in ("recurrence", "convolution", "sinusoidal")
        for rate in (1e-3, 1e-2)
    },
}


def train(
    model: CopyModel,
    task: CopyTask,
    *,
    seed: int,
    description: str,
    steps: int = STEPS,
    rate: float = RATE,
    length: int = LENGTH,
) -> None:
    """Train a model on sequences of one length."""
    fit(
        model.train(),
        sequences(BATCH_SIZE, length=length, seed=seed),
        steps=steps,
        loss=task.loss,
        learning_rate=rate,
        schedule=warmup_linear(steps, warmup=50, decay=0.3),
        description=description,
    )
    model.eval()


def trained(kind: str, distance: int, seed: int, **options: float) -> CopyModel:
    """Build a model and train it for one distance; `options` are those of `train`."""
    torch.manual_seed(seed)
    model = CopyModel(kind)
    description = f"{kind}, distance {distance}, seed {seed}"
    train(model, CopyTask(distance), seed=seed, description=description, **options)
    return model


def run(setting: str, seed: int) -> dict:
    """Train a model of one kind for each distance."""
    kind, steps, rate = SETTINGS[setting]
    right, beyond = [], []
    for distance in DISTANCES:
        task, model = CopyTask(distance), trained(kind, distance, seed, steps=steps, rate=rate)
        right.append(task.right(model, next(sequences(TESTED, seed=10**6 + seed))))
        if kind != "learned":
            longer = next(sequences(TESTED, length=2 * LENGTH, seed=10**6 + seed))
            beyond.append(task.right(model, longer, since=LENGTH))
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "steps": steps,
        "distances": list(DISTANCES),
        "right": right,
        "beyond": beyond,
    }


if __name__ == "__main__":
    Study("ch06/copy_task", run, SETTINGS).main()
