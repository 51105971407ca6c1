"""How far back can a recurrent layer remember? Chapter 1 shows the results.

    python -m studies.ch01.recall_task --seeds 0 1 2 3 4
    python -m studies.ch01.recall_task --table

A setting is a recurrent layer. For each distance k, a model of
`gates2heads.book.ch01.recall_task` with this layer is trained from scratch on 1,000 batches
(`STEPS`) of 32 sequences, to recall the first letter after k symbols of noise. The distance of each
batch is sampled from 1 to k. The settings "at k alone" see no shorter sequences in training, and
have a single distance, 40 (`ALONE_AT`).

`recalled` is, for each distance, the share of 500 new sequences of distance k whose letter is
recalled. `influence_before` and `influence_after` are measured at the distance 80 (`PROBED`) only:
the norm of the derivative of the last hidden state with respect to each earlier state, before and
after training.

`fit` trains exactly as the loop of section 1.1 does, down to the last bit of the parameters.
"""

import torch

from gates2heads.book.ch01.recall_task import Rememberer, recall_loss, recalled, texts
from gates2heads.book.studies import Study
from gates2heads.layers.recurrent.jacobians import influence, step_jacobians
from gates2heads.training.loop import fit

STEPS, BATCH_SIZE, TESTED, PROBED = 1000, 32, 500, 80
ALONE_AT = 40
DISTANCES = (10, 20, 40, 80, 160)
READERS = {
    "rnn": {"cell": "rnn"},
    "rnn, wide": {"cell": "rnn", "units": 69},  # about as many weights as the LSTM
    "rnn, orthogonal": {"cell": "rnn", "orthogonal": True},
    "gru": {"cell": "gru"},
    "lstm, bias 0": {"cell": "lstm", "forget_bias": 0.0},
    "lstm, bias 1": {"cell": "lstm", "forget_bias": 1.0},
    "lstm, bias 3": {"cell": "lstm", "forget_bias": 3.0},
}
ALONE = {f"{name}, at k alone": READERS[name] for name in ("gru", "lstm, bias 1", "lstm, bias 3")}
SETTINGS = READERS | ALONE


def run(setting: str, seed: int) -> dict:
    """Train a reader of one kind for each distance."""
    right, before, after = [], [], []
    distances = DISTANCES if setting in READERS else [ALONE_AT]
    for distance in distances:
        torch.manual_seed(seed)
        reader = Rememberer(**SETTINGS[setting])
        probe = next(texts(1, PROBED, shortest=PROBED, seed=10**6 + seed))
        if distance == PROBED:
            before = norms(reader, probe)
        fit(
            reader,
            texts(
                BATCH_SIZE,
                distance,
                shortest=distance if setting in ALONE else 1,
                seed=seed,
            ),
            steps=STEPS,
            loss=recall_loss,
            learning_rate=3e-3,
            description=f"{setting}, {distance} steps back, seed {seed}",
        )
        reader.eval()
        tested = next(texts(TESTED, distance, shortest=distance, seed=10**6 + seed))
        right.append(recalled(reader, tested))
        if distance == PROBED:
            after = norms(reader, probe)
    return {
        "parameters": sum(parameter.numel() for parameter in reader.parameters()),
        "units": reader.recurrent.hidden_size,
        "distances": list(distances),
        "recalled": right,
        "influence_before": before,
        "influence_after": after,
    }


def norms(reader: Rememberer, text: torch.Tensor) -> list[float]:
    """‖∂h_T/∂(state t)‖ along one text (1, S), by distance, to three digits."""
    jacobians = step_jacobians(reader.recurrent, reader.vectors(text)[0])
    found = influence(jacobians, reader.recurrent.hidden_size)
    return [float(f"{norm:.3g}") for norm in found.tolist()]


if __name__ == "__main__":
    Study("ch01/recall_task", run, SETTINGS).main()
