"""What is pre-training worth when all parameters learn the task? For sections 11.8 and 11.9.

    python -m studies.ch11.fine_tuning --seeds 0 1 2
    python -m studies.ch11.fine_tuning --table

A setting is a task and an initial encoder. Four tasks start from the released ERNIE, or from an
encoder of the same size with random parameters. The whole encoder is trained with the head; in the
settings that end in "frozen", only the head and the layer-mixing weights are trained. BERT, whose
pre-training does not use the boundaries of names, is fine-tuned too. The settings with four times
the steps test whether random parameters catch up, those with three times the learning rate whether
a larger rate is enough. One setting trains random parameters on slot filling for as many steps as
ERNIE had in pre-training and fine-tuning together.

`right` counts the correct answers to `asked` test examples. For question answering, "with" counts
the answers found and "without" the questions without an answer that are correctly rejected. The
examples and the questions are those of the page.

The settings "passages" train question answering for forty times the steps, on passages of one to
three sentences that are sampled again in every epoch, from shuffled facts or ("true passages") from
true facts. These models are also asked about the territories of the training facts, in true and in
shuffled passages that training did not contain ("true_", "shuffled_"). For "true passages",
"with_none" counts the questions with an answer that are rejected. Nothing is downloaded.
"""

import torch

from gates2heads.book.ch11.pretraining import untrained
from gates2heads.book.ch11.use_batches import fits
from gates2heads.book.ch11.uses import (
    MORE,
    PASSAGES,
    STEPS,
    TRUE_PASSAGES,
    USES,
    answer_counts,
    learn_use,
)
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.models.pretraining.bert import BERT

STARTS = ("ernie", "random")
ATTACKS = {
    "": {"frozen": False},
    ", frozen": {"frozen": True},
    ", four times the steps": {"frozen": False, "steps": 4 * STEPS},
    ", three times the rate": {"frozen": False, "rate_factor": 3},
}
AS_PRETRAINED = "slots random, as many steps as ERNIE"
PRETRAINING_STEPS = 5000  # of the released ERNIE
LONG = {"frozen": False, "steps": 40 * STEPS, "redraw": True}
PASSAGE_SETTINGS = {
    f"{use} {start}": (use, start)
    for use, start in ((PASSAGES, "ernie"), (PASSAGES, "random"), (TRUE_PASSAGES, "ernie"))
}
NEVER_DRAWN = 1_000_000  # no epoch has this number
SETTINGS = (
    *(f"{use} {start}{how}" for how in ATTACKS for use in USES for start in STARTS),
    *(f"{use} bert" for use in USES),
    AS_PRETRAINED,
    *PASSAGE_SETTINGS,
)


def run(setting: str, seed: int) -> dict:
    """Train a head, and all below it unless frozen, on one task, and evaluate it."""
    if setting in PASSAGE_SETTINGS:
        return _run_passages(*PASSAGE_SETTINGS[setting], seed)
    configuration, comma, how = setting.partition(",")
    use, start = configuration.split(" ")
    if setting == AS_PRETRAINED:
        options = {"frozen": False, "steps": PRETRAINING_STEPS + STEPS}
    else:
        options = ATTACKS[comma + how]
    learned = learn_use(use, begin(start, seed), seed=seed, **options)
    results = {"right": sum(learned.right), "asked": len(learned.right)}
    if use == "answers":
        for kind, (right, of) in answer_counts(learned.reader, learned.examples).items():
            results |= {kind: right, f"{kind}_asked": of}
    return results


def begin(start: str, seed: int) -> BERT:
    """The encoder that a setting starts from."""
    return untrained("ernie", seed) if start == "random" else shipped(f"pretrained_{start}").model


def _run_passages(use: str, start: str, seed: int) -> dict:
    learned = learn_use(use, begin(start, seed), seed=seed, **LONG)
    asked = {
        "": learned.examples,
        "true_": MORE[TRUE_PASSAGES].examples("train", NEVER_DRAWN),
        "shuffled_": MORE[PASSAGES].examples("train", NEVER_DRAWN),
    }
    results = {"right": sum(learned.right), "asked": len(learned.right)}
    for name, examples in asked.items():
        fitting = [one for one in examples if fits(one)]
        for kind, (right, of) in answer_counts(learned.reader, fitting).items():
            results |= {f"{name}{kind}": right, f"{name}{kind}_asked": of}
        # how many of those with an answer are said to have none
        answered = [one._replace(label=(-1, -1)) for one in fitting if one.label[0] >= 0]
        results[f"{name}with_none"], _ = answer_counts(learned.reader, answered)["without"]
    return results


STUDY = Study("ch11/fine_tuning", run, SETTINGS)

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
