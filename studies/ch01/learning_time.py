"""How many batches does a recurrent layer need until it recalls a letter k steps back?

    python -m studies.ch01.learning_time --seeds 0 1 2 3 4
    python -m studies.ch01.learning_time 'rnn, 80 steps' --seeds 5
    python -m studies.ch01.learning_time --table

A setting is a model of `MODELS` and a distance k. The model is trained on the recall task
(`gates2heads.book.ch01.recall_task`) with batches of 32 sequences, each batch at a distance of its
own from 1 to k, and evaluated after every EVERY batches on VALIDATED sequences that are all at the
full distance k. `batches` is the number of batches after which it first names SHARE of their
letters, or None if it does not do so within CAP batches. `recalled` is its share on TESTED other
sequences at the distance k, with the parameters of its best evaluation.

All models are trained with AdamW and, unless their name says otherwise, with the learning rate
0.003 and the gradient clipped to norm 1. Those with "distance k only" are trained without shorter
sequences.
"""

from dataclasses import dataclass

import torch

from gates2heads.book.ch01.recall_task import Rememberer, recall_loss, recalled, texts
from gates2heads.book.studies import Study
from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.loop import fit

EVERY, CAP, SHARE = 50, 10_000, 0.99
BATCH_SIZE, VALIDATED, TESTED = 32, 300, 2000
DISTANCES = (5, 10, 20, 40, 80, 160)
UNCLIPPED = 1e9  # a norm that no gradient here reaches
MODELS = {
    "rnn": {"cell": "rnn"},
    "gru": {"cell": "gru"},
    "lstm, bias 1": {"cell": "lstm", "forget_bias": 1.0},
    "lstm, bias 3": {"cell": "lstm", "forget_bias": 3.0},
    "rnn, orthogonal": {"cell": "rnn", "orthogonal": True},
    "rnn, not clipped": {"cell": "rnn", "clip": UNCLIPPED},
    "rnn, 69 units": {"cell": "rnn", "units": 69},  # about as many parameters as the LSTM
    "rnn, rate 0.001": {"cell": "rnn", "learning_rate": 1e-3},
    "rnn, rate 0.01": {"cell": "rnn", "learning_rate": 1e-2},
    "gru, rate 0.001": {"cell": "gru", "learning_rate": 1e-3},
    "gru, rate 0.01": {"cell": "gru", "learning_rate": 1e-2},
    "rnn, distance k only": {"cell": "rnn", "only": True},
    "gru, distance k only": {"cell": "gru", "only": True},
}
SETTINGS = {
    f"{model}, {distance} steps": (model, distance) for model in MODELS for distance in DISTANCES
}


@dataclass(frozen=True)
class Arrival(EarlyStopping):
    """Stop at the first evaluation that reaches SHARE; patience has no part in it."""

    patience: int = 1

    def over(self, history) -> bool:
        """Say whether the last evaluation reached SHARE."""
        return bool(history.evaluations) and history.evaluations[-1] >= SHARE


def run(setting: str, seed: int) -> dict:
    """Train one model at one distance until it arrives, or for CAP batches."""
    name, distance = SETTINGS[setting]
    options = dict(MODELS[name])
    training = {
        "learning_rate": options.pop("learning_rate", 3e-3),
        "clip": options.pop("clip", 1.0),
    }
    shortest = distance if options.pop("only", False) else 1
    torch.manual_seed(seed)
    model = Rememberer(**options)
    validation = next(texts(VALIDATED, distance, shortest=distance, seed=10**6 + seed))
    history = fit(
        model,
        texts(BATCH_SIZE, distance, shortest=shortest, seed=seed),
        steps=CAP,
        loss=recall_loss,
        evaluate=lambda model: recalled(model, validation),
        evaluate_at=range(EVERY, CAP + 1, EVERY),
        early_stopping=Arrival(),
        description=f"{setting}, seed {seed}",
        **training,
    )
    model.eval()
    arrived = history.evaluations[-1] >= SHARE
    return {
        "model": name,
        "distance": distance,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "batches": history.evaluated_at[-1] if arrived else None,
        "cap": CAP,
        "best": max(history.evaluations),
        "recalled": recalled(
            model, next(texts(TESTED, distance, shortest=distance, seed=seed + 1))
        ),
    }


if __name__ == "__main__":
    Study("ch01/learning_time", run, SETTINGS).main()
