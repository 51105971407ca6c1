"""How many labelled examples does pre-training save? For section 11.8.

    python -m studies.ch11.few_labels --seeds 0 1 2 3 4
    python -m studies.ch11.few_labels --table

A setting is a task, an initial encoder and a number of labelled examples, which are sampled at
random. Each of the four tasks starts with 8, 32 and 128 examples from the released ERNIE and from
an encoder of the same size with random parameters; two of the tasks also start from the released
BERT. All parameters are trained, for as many steps as in `studies.ch11.fine_tuning`, which holds
the runs with all examples. Some settings, a few of them with 512 examples, have four times the
steps, three times the learning rate, or both.

`right` counts the correct answers among the test examples of the page, whose number is `asked`.
Nothing is downloaded.
"""

import torch

from gates2heads.book.ch11.uses import STEPS, USES, learn_use
from gates2heads.book.studies import Study
from studies.ch11.fine_tuning import begin

STARTS = ("ernie", "random")
LABELS = (8, 32, 128)
LONGER, FASTER = ", four times the steps", ", three times the rate"
ATTACKS = {
    LONGER: {"steps": 4 * STEPS},
    FASTER: {"rate_factor": 3},
}
SETTINGS = (
    *(f"{use} {start}, {labels}" for labels in LABELS for use in USES for start in STARTS),
    *(f"{use} bert, {labels}" for labels in LABELS for use in ("slots", "answers")),
    *(f"slots ernie, 32{how}" for how in ATTACKS),
    *(f"slots random, {labels}{FASTER}" for labels in (128, 512)),
    *(f"slots random, {labels}{LONGER}{how}" for labels in (32, 512) for how in ("", FASTER)),
)


def run(setting: str, seed: int) -> dict:
    """Fine-tune on a few labelled examples of one use, and test."""
    configuration, labels, *how = setting.split(", ")
    use, start = configuration.split(" ")
    learned = learn_use(
        use,
        begin(start, seed),
        frozen=False,
        labels=int(labels),
        seed=seed,
        **{"steps": STEPS, **{k: v for one in how for k, v in ATTACKS[f", {one}"].items()}},
    )
    return {"right": sum(learned.right), "asked": len(learned.right)}


STUDY = Study("ch11/few_labels", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
