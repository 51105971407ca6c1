"""Predict the loss of the largest runs of `scaling.py` from the smaller ones. Section 13.1.

python -m studies.ch13.scaling_prediction
python -m studies.ch13.scaling_prediction --table
"""

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.scaling import (
    FITTED,
    MILLION,
    PREDICTED,
    law_of,
    predict_loss,
    scaled_model,
)
from gates2heads.book.studies import Study, read_study


def run(setting: str, seed: int) -> dict:
    """Fit the law to the smaller runs that are stored, and predict one larger run."""
    runs = [row["result"] for row in read_study("ch13/scaling") if row["setting"] in FITTED]
    width, layers, millions = PREDICTED[setting]
    size, tokens = parameters(scaled_model(width, layers)), round(millions * MILLION)
    return {
        "runs": len(runs),
        "law": law_of(runs)._asdict(),
        "parameters": size,
        "tokens": tokens,
        "prediction": predict_loss(runs, size, tokens)._asdict(),
    }


if __name__ == "__main__":
    Study("ch13/scaling_prediction", run, PREDICTED).main()
