"""What if all weights learn the task, from ERNIE's or from random ones? For section 11.7.

    python benchmarks/fact_uses.py --seeds 0 1 2
    python benchmarks/fact_uses.py --table

On the page three of the four uses train a head on a frozen encoder. Here the encoder is trained
with it, as the page does for the fourth: the shipped ERNIE, and one of its size with random
weights. The examples, the steps and the questions are those of the page. Nothing is downloaded.
"""

import torch

from gates2heads.display.engine.rebuild import shipped
from gates2heads.training.fact_pretraining import untrained
from gates2heads.training.fact_uses import learn_use
from gates2heads.training.studies import Study

FROZEN_ON_THE_PAGE = ("classification", "slots", "inference")
SETTINGS = tuple(f"{use} {start}" for use in FROZEN_ON_THE_PAGE for start in ("ernie", "random"))


def run(setting: str, seed: int) -> dict:
    """Train a head and all below it on one use, and ask it."""
    use, start = setting.split(" ")
    ernie = start == "ernie"
    encoder = shipped("pretrained_ernie").model if ernie else untrained("ernie", seed)
    learned = learn_use(use, encoder, frozen=False, seed=seed)
    return {"right": sum(learned.right), "asked": len(learned.right)}


STUDY = Study("fact_uses", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
