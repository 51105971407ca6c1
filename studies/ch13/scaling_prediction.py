"""Predict the loss of the longest runs of `scaling.py` from the shorter ones. Section 13.1.

    python -m studies.ch13.scaling_prediction
    python -m studies.ch13.scaling_prediction --table

A setting is a run in `PREDICTED` of `scaling.py`. The scaling law `law` is fitted to the runs in
`FITTED`, and `prediction` is the loss that it predicts, in nats per token.
"""

from collections.abc import Sequence

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


def stored_runs() -> dict[str, list[dict]]:
    """The runs of `scaling.py` with the usual learning rates, by setting."""
    runs: dict[str, list[dict]] = {}
    for row in read_study("ch13/scaling"):
        if row["setting"] in {**FITTED, **PREDICTED}:
            runs.setdefault(row["setting"], []).append(row["result"])
    return runs


def fitted_runs() -> list[dict]:
    """The smaller ones, to which the law of section 13.1 is fitted."""
    return [run for name, runs in stored_runs().items() if name in FITTED for run in runs]


def size_of(width: int, layers: int, millions: float) -> tuple[int, int]:
    """Count the parameters and the training tokens of a run."""
    return parameters(scaled_model(width, layers)), round(millions * MILLION)


def forecast(runs: Sequence[dict], size: int, tokens: int) -> dict:
    """Fit the law to runs, and predict the loss of a larger one."""
    return {
        "runs": len(runs),
        "law": law_of(runs)._asdict(),
        "prediction": predict_loss(runs, size, tokens)._asdict(),
    }


def run(setting: str, seed: int) -> dict:
    """Predict one larger run from the smaller runs that are stored."""
    size, tokens = size_of(*PREDICTED[setting])
    return {"parameters": size, "tokens": tokens, **forecast(fitted_runs(), size, tokens)}


if __name__ == "__main__":
    Study("ch13/scaling_prediction", run, PREDICTED).main()
