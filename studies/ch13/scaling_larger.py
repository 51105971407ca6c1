"""Runs of up to 40 times the computation of those in the fit. Section 13.1 shows the results.

    python -m studies.ch13.scaling_larger --seeds 0
    python -m studies.ch13.scaling_larger --table

The settings and the stored values are as in `scaling.py`. The runs were made on a GPU, after
`studies/ch13/scaling_larger_prediction.py` had stored the predictions of two laws. The setting
"192x4 4M" (`CONTROL`) repeats a run of `scaling.py` on that GPU.
"""

from gates2heads.book.ch13.scaling import GRID, LARGER
from gates2heads.book.studies import Study
from studies.ch13.scaling import measured

CONTROL = "192x4 4M"
SETTINGS = {**LARGER, CONTROL: GRID[CONTROL]}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    return measured(*SETTINGS[setting], 1.0, seed)


if __name__ == "__main__":
    Study("ch13/scaling_larger", run, SETTINGS).main()
