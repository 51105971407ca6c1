"""Loss against parameters, tokens and compute. Section 13.1 shows the results.

    python -m studies.ch13.scaling --seeds 0
    python -m studies.ch13.scaling --table

A setting such as "64x3 1M" is a model of width 64 with 3 layers that is trained on a million tokens
of Python source. The settings that end in "x3" and "/3" have three times and a third of the
learning rate. The scaling law is fitted to the runs in `FITTED`; those in `PREDICTED` are longer
and were run after `studies/ch13/scaling_prediction.py` had stored the prediction.

`loss` is the cross-entropy of the test modules in nats per token. `on_the_way` is the test loss of
the longest runs after fewer tokens, under the learning-rate schedule of the whole run.
"""

import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.scaling import (
    FITTED,
    MILLION,
    MILLIONS,
    PREDICTED,
    block_parameters,
    held_out_loss,
    peak_rate,
    train_scaled,
)
from gates2heads.book.studies import Study
from gates2heads.data.corpora.python.source import PACKAGES, source_fingerprint

CHANGES = {"x3": 3.0, "/3": 1 / 3}
# With other learning rates: two sizes of the fit, and the two best by Table 13.2.
ATTACKED = ("64x3 1M", "128x4 1M", "32x2 12M", "64x3 4M")
RUNS = {**FITTED, **PREDICTED}
SETTINGS = {
    **{name: (*run, 1.0) for name, run in RUNS.items()},
    **{
        f"{name} {change}": (*RUNS[name], factor)
        for name in ATTACKED
        for change, factor in CHANGES.items()
    },
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    return measured(*SETTINGS[setting], seed)


def measured(width: int, layers: int, millions: float, factor: float, seed: int) -> dict:
    """Train and test a model on so many millions of tokens, at `factor` times the usual rate."""
    if not torch.cuda.is_available():
        torch.set_num_threads(1)
    tokens = round(millions * MILLION)
    earlier = [round(one * MILLION) for one in MILLIONS if one < millions >= MILLIONS[-1]]
    rate = factor * peak_rate(width)
    model, history = train_scaled(width, layers, tokens, seed, rate=rate, at=earlier)
    chunk = max(1, len(history.loss) // 20)
    return {
        "parameters": parameters(model),
        "block_parameters": block_parameters(model),
        "tokens": tokens,
        "rate": rate,
        "loss": held_out_loss(model),
        "on_the_way": dict(zip(map(str, earlier), history.evaluations, strict=True)),
        "training": [
            sum(history.loss[at : at + chunk]) / chunk
            for at in range(0, len(history.loss) - chunk + 1, chunk)
        ],
        "training_seconds": history.seconds,
        "corpus": source_fingerprint(PACKAGES),
    }


if __name__ == "__main__":
    Study("ch13/scaling", run, SETTINGS).main()
