"""Is the memory of section 13.3 underconfident? Section I of the Further page shows the results.

    python -m studies.ch13.calibration --seeds 0 1 2
    python -m studies.ch13.calibration --table

The models are trained as those of "wrong 0.2" in `studies/ch13/conflicts.py`. The crossovers are
numbers of occurrences of a person in training: `crossover` is where memory overtakes context,
`optimal_crossover` where it should according to the model's own probabilities. `all_crossover` and
`settled_crossover` are where it should after these probabilities were calibrated by a temperature,
which is fitted to all people who occurred, or to settled people who occurred 10 to 299 times.
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
