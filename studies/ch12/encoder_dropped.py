"""Dates to ISO 8601 with an encoder and a decoder, or with one stack. Section 12.1.

    python -m studies.ch12.encoder_dropped --seeds 0 1 2 3 4
    python -m studies.ch12.encoder_dropped --table

All models have equally many parameters (to 1 %) and read the same pairs in as many batches. `right`
is the share of 1,000 test dates that greedy decoding gets exactly right, after each number of
`steps`; `last` is the last of them. The settings that end in "x3" and "/3" have three times and a
third of the learning rate, those that end in "4000" four times as many batches. "causal 158" has
158 pairs in a batch: as many positions count in its loss as in that of "causal-all" with 64.
"causal-all 26" has 26 pairs: as many positions count as in the loss of "causal" with 64.
The stacks begin with the small weights of GPT-2 and the encoder–decoder with Xavier's. In the
settings with "xavier" the stacks begin with the latter; in those with "small", all matrices of all
models are drawn with the standard deviation of GPT-2.
"""

import torch

from gates2heads.book.ch12.dates import BATCH, KINDS, RATE, STEPS, WEIGHTS, train_on_dates
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.studies import Study

LONG = 4 * STEPS
MANY = 158  # 64 · 27.1 / 11: tokens of source and target, per token of the target
FEW = 26  # 64 · 11 / 27.1: tokens of the target, per token of source and target
SETTINGS = {
    **{kind: (kind, STEPS, RATE, BATCH) for kind in KINDS},
    **{f"{kind} x3": (kind, STEPS, 3 * RATE, BATCH) for kind in KINDS},
    **{f"{kind} /3": (kind, STEPS, RATE / 3, BATCH) for kind in KINDS},
    **{f"{kind} {LONG}": (kind, LONG, RATE, BATCH) for kind in KINDS},
    f"causal {MANY}": ("causal", STEPS, RATE, MANY),
    f"causal-all {FEW}": ("causal-all", STEPS, RATE, FEW),
    **{f"{kind} xavier": (kind, STEPS, RATE, BATCH) for kind in KINDS[1:]},
    **{f"{kind} xavier x3": (kind, STEPS, 3 * RATE, BATCH) for kind in KINDS[1:]},
    **{f"{kind} small": (kind, STEPS, RATE, BATCH) for kind in KINDS},
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    torch.set_num_threads(1)
    kind, steps, rate, size = SETTINGS[setting]
    weights = next((name for name in WEIGHTS if name in setting.split()), "own")
    model, history = train_on_dates(kind, seed, steps=steps, rate=rate, size=size, weights=weights)
    return {
        "parameters": parameters(model),
        "rate": rate,
        "steps": history.evaluated_at,
        "right": history.evaluations,
        "last": history.evaluations[-1],
        "training_seconds": history.seconds,
    }


if __name__ == "__main__":
    Study("ch12/encoder_dropped", run, SETTINGS).main()
