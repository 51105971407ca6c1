"""What does a model answer if the prompt contradicts a memorised fact? See section 13.3.

    python -m studies.ch13.conflicts --seeds 0 1 2 3 4
    python -m studies.ch13.conflicts --table

A setting says how often the statements in the training documents are wrong. The settings that end
in "x3" and "/3" have three times and a third of the learning rate; those that end in "6400" are
trained for four times as many batches. The stored values are described in the docstring of
`measured` in `gates2heads.book.ch13.conflict_measures`.
"""

import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.conflict_measures import measured
from gates2heads.book.ch13.conflicts import RATE, STEPS, WRONG, train_on_facts
from gates2heads.book.studies import Study

LONG = 4 * STEPS
MAIN = f"wrong {WRONG}"
SETTINGS = {
    MAIN: (WRONG, STEPS, RATE),
    "wrong 0": (0.0, STEPS, RATE),
    "wrong 0.5": (0.5, STEPS, RATE),
    f"{MAIN} x3": (WRONG, STEPS, 3 * RATE),
    f"{MAIN} /3": (WRONG, STEPS, RATE / 3),
    f"{MAIN} {LONG}": (WRONG, LONG, RATE),
}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    torch.set_num_threads(1)
    wrong, steps, rate = SETTINGS[setting]
    reader = train_on_facts(seed, wrong, steps=steps, rate=rate, progress=False)
    return {
        "parameters": parameters(reader.model),
        "steps": steps,
        "rate": rate,
        "wrong": wrong,
        **measured(reader, wrong),
        "loss": sum(reader.history.loss[-100:]) / len(reader.history.loss[-100:]),
        "training_seconds": reader.history.seconds,
    }


if __name__ == "__main__":
    Study("ch13/conflicts", run, SETTINGS).main()
