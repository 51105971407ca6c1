"""Predict the losses of `scaling_larger.py` by two laws, before they are measured.

    python -m studies.ch13.scaling_larger_prediction
    python -m studies.ch13.scaling_larger_prediction --table

A setting is a run of `scaling_larger.py`. The law "all" is fitted to the runs that
`scaling_prediction.py` uses. The law "long" is fitted to the runs of `scaling.py` with at least a
million tokens, including the first seed of those with 4 and 12 million; the other runs with 12
million were made after the prediction. For each law, `prediction` is the predicted loss in
nats per token, and `best` the compute-optimal number of parameters for the computation of the run.
"""

from gates2heads.book.ch13.scaling import FITTED, LARGER, MILLION
from gates2heads.book.studies import Study
from gates2heads.metrics.scaling_laws import FLOPS, ScalingLaw
from studies.ch13.scaling_prediction import fitted_runs, forecast, size_of, stored_runs


def run(setting: str, seed: int) -> dict:
    """Fit both laws to the runs that are stored, and predict one larger run."""
    size, tokens = size_of(*LARGER[setting])
    every = [
        run
        for name, runs in stored_runs().items()
        for run in (runs if name in FITTED else runs[:1])
    ]
    result: dict = {"parameters": size, "tokens": tokens}
    for name, runs in (
        ("all", fitted_runs()),
        ("long", [run for run in every if run["tokens"] >= MILLION]),
    ):
        found = forecast(runs, size, tokens)
        best, _ = ScalingLaw(**found["law"]).optimum(FLOPS * size * tokens)
        result[name] = {**found, "best": best}
    return result


if __name__ == "__main__":
    Study("ch13/scaling_larger_prediction", run, LARGER).main()
