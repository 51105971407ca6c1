"""How far back can a recurrent layer remember? Chapter 1 shows the results.

    python -m studies.ch01.recall_task --seeds 0 1 2 3 4
    python -m studies.ch01.recall_task --table

Each reader of `gates2heads.book.ch01.recall_task` is trained from scratch for each distance k, on
STEPS batches of 32 texts, to name the first letter of a text after k symbols of noise. `recalled`
is the share of 500 new texts, all at the full distance, at which it does; `influence`, at the
distance PROBED alone, how much the last hidden state depends on earlier ones, before and after
training.

`fit` trains as the loop of section 1.1 does, to the last bit of the parameters.

A batch has a distance of its own, from 1 to k. The settings "at k alone" show no shorter texts,
and have one distance, ALONE_AT.
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
