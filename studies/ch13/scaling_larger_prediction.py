"""Predict the losses of `scaling_larger.py` by two laws, before they are measured.

    python -m studies.ch13.scaling_larger_prediction
    python -m studies.ch13.scaling_larger_prediction --table

"all" is fitted to the runs that `scaling_prediction.py` uses, "long" to the runs of `scaling.py`
with at least a million tokens, those of 4 and 12 million included. `best` is the compute-optimal
number of parameters by each law, for the computation of the run.
"""

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.scaling import (
    FITTED,
    LARGER,
    MILLION,
    PREDICTED,
    law_of,
    predict_loss,
    scaled_model,
)
from gates2heads.book.studies import Study, read_study


def run(setting: str, seed: int) -> dict:
    """Fit both laws to the runs that are stored, and predict one larger run."""
    rows = read_study("ch13/scaling")
    kept = [row for row in rows if row["setting"] in {**FITTED, **PREDICTED}]
    runs = {
        "all": [row["result"] for row in kept if row["setting"] in FITTED],
        "long": [row["result"] for row in kept if row["result"]["tokens"] >= MILLION],
    }
    width, layers, millions = LARGER[setting]
    size, tokens = parameters(scaled_model(width, layers)), round(millions * MILLION)
    result: dict = {"parameters": size, "tokens": tokens}
    for name, some in runs.items():
        law = law_of(some)
        result[name] = {
            "runs": len(some),
            "law": law._asdict(),
            "prediction": predict_loss(some, size, tokens)._asdict(),
            "best": law.optimum(6 * size * tokens)[0],
        }
    return result


if __name__ == "__main__":
    Study("ch13/scaling_larger_prediction", run, LARGER).main()
