"""How far does each kind of layer reach? Sections 6.1 and 6.6 show what comes out.

    python benchmarks/reach.py --seeds 0 1 2
    python benchmarks/reach.py --table

Each reader of `gates2heads.exercises.reaching` is trained anew for each distance k, on 300 batches
of 32 random sequences of 48 tokens, to say which token stood k places before. `right` is the share
of places, of 200 new sequences, at which it says so; `beyond` the same at the places 48 to 95 of
longer sequences, which a learned table of 48 places cannot read.
"""

import torch

from gates2heads.exercises.reaching import LENGTH, READERS, Reach, Reader, sequences
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_linear
from gates2heads.training.studies import Study

STEPS, BATCH_SIZE, TESTED = 300, 32, 200
DISTANCES = (1, 4, 8, 16, 32)


def run(kind: str, seed: int) -> dict:
    """Train a reader of one kind for each distance."""
    right, beyond = [], []
    for distance in DISTANCES:
        task = Reach(distance)
        torch.manual_seed(seed)
        reader = Reader(kind)
        fit(
            reader,
            sequences(BATCH_SIZE, seed=seed),
            steps=STEPS,
            loss=task.loss,
            learning_rate=3e-3,
            schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
            description=f"{kind}, {distance} places, seed {seed}",
        )
        reader.eval()
        right.append(task.right(reader, next(sequences(TESTED, seed=10**6 + seed))))
        if kind != "learned":
            longer = next(sequences(TESTED, length=2 * LENGTH, seed=10**6 + seed))
            beyond.append(task.right(reader, longer, since=LENGTH))
    return {
        "parameters": sum(parameter.numel() for parameter in reader.parameters()),
        "distances": list(DISTANCES),
        "right": right,
        "beyond": beyond,
    }


if __name__ == "__main__":
    Study("reach", run, READERS).main()
