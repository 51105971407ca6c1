"""What is pre-training worth when all weights learn the task? For section 11.7.

    python -m studies.ch11.fine_tuning --seeds 0 1 2
    python -m studies.ch11.fine_tuning --table

Four tasks start from the shipped ERNIE, or from an encoder of its size with random weights. The
whole encoder is trained with the head; in the settings that end in "frozen" only the head and the
mix of layers are. The settings with four times the steps ask whether random weights catch up. The
examples and the questions are those of the page. Nothing is downloaded.
"""

import torch

from gates2heads.book.ch11.pretraining import untrained
from gates2heads.book.ch11.uses import STEPS, USES, learn_use
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped

STARTS = ("ernie", "random")
ATTACKS = {
    "": {"frozen": False},
    ", frozen": {"frozen": True},
    ", four times the steps": {"frozen": False, "steps": 4 * STEPS},
}
SETTINGS = tuple(f"{use} {start}{how}" for how in ATTACKS for use in USES for start in STARTS)


def run(setting: str, seed: int) -> dict:
    """Train a head, and all below it unless frozen, on one use, and ask it."""
    told, comma, how = setting.partition(",")
    use, start = told.split(" ")
    encoder = shipped("pretrained_ernie").model if start == "ernie" else untrained("ernie", seed)
    learned = learn_use(use, encoder, seed=seed, **ATTACKS[comma + how])
    return {"right": sum(learned.right), "asked": len(learned.right)}


STUDY = Study("ch11/fine_tuning", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
