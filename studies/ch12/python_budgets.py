"""The model of Python source after less training, on one thread of a processor. Section 12.4.

    python -m studies.ch12.python_budgets "400 steps" --seeds 0
    python -m studies.ch12.python_budgets --table

`test` is the cross-entropy of the test modules in bits per character. The released model was
trained for 8,000 steps, on a graphics card: `python -m shipping.python_model`.
"""

import torch

from gates2heads.book.ch12.exchanges import BATCH, parameters
from gates2heads.book.ch12.python_model import train_python_model
from gates2heads.book.ch12.python_text import LENGTH, bits_per_character, python_text
from gates2heads.book.studies import Study

SETTINGS = {f"{steps} steps": steps for steps in (100, 400, 900)}


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    torch.set_num_threads(1)
    steps = SETTINGS[setting]
    model, history = train_python_model(steps, seed)
    return {
        "parameters": parameters(model),
        "steps": steps,
        "tokens": steps * BATCH * LENGTH,
        "test": bits_per_character(model, python_text("test")),
        "training_seconds": history.seconds,
    }


if __name__ == "__main__":
    Study("ch12/python_budgets", run, SETTINGS).main()
