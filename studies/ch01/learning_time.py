"""How many batches does a recurrent layer need until it recalls a letter k steps back?

    python -m studies.ch01.learning_time --seeds 0 1 2 3 4
    python -m studies.ch01.learning_time 'rnn, 80 steps' --seeds 5
    python -m studies.ch01.learning_time --table

A setting is a model of `MODELS` and a distance k. The model is trained on the recall task
(`gates2heads.book.ch01.recall_task`) with batches of 32 sequences, whose distance is sampled for
each batch from 1 to k. After every 50 batches (`EVERY`), it is evaluated on 300 sequences
(`VALIDATED`) of distance k.

`batches` is the number of batches after which the model first recalls 99 % (`SHARE`) of the
letters, or None if it does not do so within 10,000 batches (`CAP`). `recalled` is the share of
letters that the final model recalls in 2,000 other sequences (`TESTED`) of distance k.

The training loop is that of section 1.1: AdamW with learning rate 0.003, betas 0.9 and 0.98, no
weight decay, and the gradient clipped to norm 1, unless the name of the model says otherwise.
Models with "AdamW's defaults" use PyTorch's betas, 0.9 and 0.999, and its weight decay of 0.01.
Models with "distance k only" see no shorter sequences in training. With "letters as noise", the
noise consists of letters too, so that only the position distinguishes the first symbol from the
others. "identity" initialises W with the identity matrix; "fixed W" does not train it.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import torch
from torch import Tensor, nn

from gates2heads.book.ch01.recall_task import Rememberer, recall_loss, recalled, texts
from gates2heads.book.studies import Study

EVERY, CAP, SHARE = 50, 10_000, 0.99
BATCH_SIZE, VALIDATED, TESTED = 32, 300, 2000
DISTANCES = (5, 10, 20, 40, 80, 160)
UNCLIPPED = 1e9  # a norm that no gradient here reaches
DEFAULTS = {"betas": (0.9, 0.999), "weight_decay": 0.01}  # of torch.optim.AdamW
MODELS = {
    "rnn": {"cell": "rnn"},
    "gru": {"cell": "gru"},
    "lstm, bias 1": {"cell": "lstm", "forget_bias": 1.0},
    "lstm, bias 3": {"cell": "lstm", "forget_bias": 3.0},
    "rnn, orthogonal": {"cell": "rnn", "orthogonal": True},
    "rnn, not clipped": {"cell": "rnn", "clip": UNCLIPPED},
    "rnn, AdamW's defaults": {"cell": "rnn", **DEFAULTS},
    "rnn, AdamW's defaults, not clipped": {"cell": "rnn", "clip": UNCLIPPED, **DEFAULTS},
    "rnn, clip 0.001": {"cell": "rnn", "clip": 0.001},
    "rnn, 69 units": {"cell": "rnn", "units": 69},  # about as many parameters as the LSTM
    "rnn, rate 0.001": {"cell": "rnn", "learning_rate": 1e-3},
    "rnn, rate 0.01": {"cell": "rnn", "learning_rate": 1e-2},
    "gru, rate 0.001": {"cell": "gru", "learning_rate": 1e-3},
    "gru, rate 0.01": {"cell": "gru", "learning_rate": 1e-2},
    "rnn, distance k only": {"cell": "rnn", "only": True},
    "gru, distance k only": {"cell": "gru", "only": True},
    "lstm, bias 1, distance k only": {"cell": "lstm", "forget_bias": 1.0, "only": True},
    "lstm, bias 3, distance k only": {"cell": "lstm", "forget_bias": 3.0, "only": True},
    "rnn, orthogonal, distance k only": {"cell": "rnn", "orthogonal": True, "only": True},
    "rnn, identity": {"cell": "rnn", "identity": True},
    "rnn, identity, rate 0.001": {"cell": "rnn", "identity": True, "learning_rate": 1e-3},
    "rnn, identity, rate 0.01": {"cell": "rnn", "identity": True, "learning_rate": 1e-2},
    "rnn, identity, distance k only": {"cell": "rnn", "identity": True, "only": True},
    "rnn, identity, fixed W": {"cell": "rnn", "identity": True, "fixed": True},
    "rnn, identity, fixed W, distance k only": {
        "cell": "rnn",
        "identity": True,
        "fixed": True,
        "only": True,
    },
    "rnn, identity, rate 0.0003": {"cell": "rnn", "identity": True, "learning_rate": 3e-4},
    "rnn, identity, rate 0.0003, distance k only": {
        "cell": "rnn",
        "identity": True,
        "learning_rate": 3e-4,
        "only": True,
    },
    "rnn, orthogonal, rate 0.0003, distance k only": {
        "cell": "rnn",
        "orthogonal": True,
        "learning_rate": 3e-4,
        "only": True,
    },
    "lstm, bias 3, rate 0.0003": {"cell": "lstm", "forget_bias": 3.0, "learning_rate": 3e-4},
    "lstm, bias 3, rate 0.0003, distance k only": {
        "cell": "lstm",
        "forget_bias": 3.0,
        "learning_rate": 3e-4,
        "only": True,
    },
    "rnn, letters as noise": {"cell": "rnn", "letters_only": True},
    "rnn, identity, letters as noise": {"cell": "rnn", "identity": True, "letters_only": True},
    "gru, letters as noise": {"cell": "gru", "letters_only": True},
    "lstm, bias 1, letters as noise": {"cell": "lstm", "forget_bias": 1.0, "letters_only": True},
    "lstm, bias 3, letters as noise": {"cell": "lstm", "forget_bias": 3.0, "letters_only": True},
}
SETTINGS = {
    f"{model}, {distance} steps": (model, distance) for model in MODELS for distance in DISTANCES
}


def train(
    model: nn.Module,
    batches: Iterable[Tensor],
    *,
    learning_rate: float = 0.003,
    betas: tuple[float, float] = (0.9, 0.98),
    weight_decay: float = 0.0,
    clip: float = 1.0,
) -> Iterator[int]:
    """Train as section 1.1 shows it; return the number of batches done after each of them."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, betas=betas, weight_decay=weight_decay
    )
    for done, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = recall_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        yield done


def run(setting: str, seed: int) -> dict:
    """Train one model at one distance until it arrives, or for CAP batches."""
    name, distance = SETTINGS[setting]
    options = dict(MODELS[name])
    training = {
        key: options.pop(key)
        for key in ("learning_rate", "betas", "weight_decay", "clip")
        if key in options
    }
    shortest = distance if options.pop("only", False) else 1
    noise = {"letters_only": options.pop("letters_only", False)}
    fixed = options.pop("fixed", False)
    torch.manual_seed(seed)
    model = Rememberer(**options)
    if fixed:
        model.recurrent.weight_hh_l0.requires_grad_(False)
    batches = islice(texts(BATCH_SIZE, distance, shortest=shortest, seed=seed, **noise), CAP)
    validation = next(texts(VALIDATED, distance, shortest=distance, seed=10**6 + seed, **noise))
    best, arrived = 0.0, None
    for done in train(model, batches, **training):
        if done % EVERY:
            continue
        share = recalled(model, validation)
        best = max(best, share)
        if share >= SHARE:
            arrived = done
            break
    return {
        "model": name,
        "distance": distance,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "batches": arrived,
        "cap": CAP,
        "best": best,
        "recalled": recalled(
            model, next(texts(TESTED, distance, shortest=distance, seed=seed + 1, **noise))
        ),
    }


if __name__ == "__main__":
    Study("ch01/learning_time", run, SETTINGS).main()
