"""Do the conclusions of the ablation hold with other rates and longer training? Section 7.4.

    python -m studies.ch07.budgets --seeds 0 1
    python -m studies.ch07.budgets --table

A setting is a run of `ablation.py` with a third of the learning rate (0.001), with three times the
learning rate (0.009), or with four times as many batches (1,200 steps). The warm-up, where there is
one, always has 60 steps. The stored values are described in `ablation.py`; a longer run has four
times as many `losses`.
"""

import torch

from gates2heads.book.ch07.ablation import RATE, STEPS
from gates2heads.book.studies import Study
from studies.ch07 import ablation

CHANGES = (
    "whole",
    "no warm-up",
    "post-norm",
    "post-norm, no warm-up",
    "no residuals",
    "no norms",
)
BUDGETS = {
    "rate 0.001": {"rate": RATE / 3},
    "rate 0.009": {"rate": 3 * RATE},
    "1,200 steps": {"steps": 4 * STEPS},
}
SETTINGS = tuple(f"{change}, {budget}" for budget in BUDGETS for change in CHANGES)


def run(setting: str, seed: int) -> dict:
    """Train one Transformer with one change and one budget."""
    torch.set_num_threads(1)
    change, budget = next(
        (setting.removesuffix(f", {budget}"), budget)
        for budget in BUDGETS
        if setting.endswith(f", {budget}")
    )
    return ablation.run(change, seed, **BUDGETS[budget])


if __name__ == "__main__":
    Study("ch07/budgets", run, SETTINGS).main()
