"""Which score learns at which width? Sections 6.5 and 6F H show the results.

    python -m studies.ch06.score_scaling --seeds 0 1 2
    python -m studies.ch06.score_scaling --table

The task of `gates2heads.book.ch06.matching_task`, 300 batches of 32 sequences, at three learning
rates: the loss, each number the mean of 20 steps, and the name of the rate whose end is the lowest.
In the setting `dot, small 256`, the scores are not scaled, but the matrices of queries and keys are
so much smaller before training that the scores have a variance of 1 as with scaling.
"""

import torch

from gates2heads.book.ch06.matching_task import MatchingModel, matching_loss, matching_sequences
from gates2heads.book.studies import Study
from gates2heads.training.loop import fit

STEPS, BATCH_SIZE, EVERY = 300, 32, 20
RATES = ("0.0003", "0.001", "0.003")
SIZES = (8, 64, 256)
SETTINGS = [f"{score} {size}" for score in ("dot", "scaled dot", "additive") for size in SIZES]
SETTINGS.append("dot, small 256")


def run(setting: str, seed: int) -> dict:
    """Train one score at one width, once for each rate."""
    score, _, size = setting.rpartition(" ")
    losses = {}
    for rate in RATES:
        torch.manual_seed(seed)
        model = MatchingModel(score.removesuffix(", small"), int(size))
        if score.endswith("small"):
            with torch.no_grad():
                for layer in (model.query, model.key):
                    layer.weight *= int(size) ** -0.25
        history = fit(
            model,
            matching_sequences(BATCH_SIZE, seed=seed),
            steps=STEPS,
            loss=matching_loss,
            learning_rate=float(rate),
            description=f"{setting}, rate {rate}, seed {seed}",
        )
        losses[rate] = [
            sum(history.loss[start : start + EVERY]) / EVERY for start in range(0, STEPS, EVERY)
        ]
    best = min(RATES, key=lambda rate: losses[rate][-1])
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "every": EVERY,
        "losses": losses,
        "best_rate": best,
        "last_loss": losses[best][-1],
    }


if __name__ == "__main__":
    Study("ch06/score_scaling", run, SETTINGS).main()
