"""Is the memory of section 13.3 underconfident? Section I of the Further page shows the results.

    python -m studies.ch13.calibration --seeds 0 1 2
    python -m studies.ch13.calibration --table

The models are trained as those of "wrong 0.2" in `studies/ch13/conflicts.py`. `crossover` is where
memory overtakes context, `optimal_crossover` where it should by the model's own probabilities, and
`all_crossover` and `settled_crossover` where it should after these were calibrated by a
temperature.
"""

import torch

from gates2heads.book.ch13.conflict_measures import calibrated
from gates2heads.book.ch13.conflicts import WRONG, train_on_facts
from gates2heads.book.studies import Study


def run(setting: str, seed: int) -> dict:
    """Train one model, and calibrate its memory."""
    torch.set_num_threads(1)
    return calibrated(train_on_facts(seed, WRONG, progress=False), WRONG)


if __name__ == "__main__":
    Study("ch13/calibration", run, [f"wrong {WRONG}"]).main()
