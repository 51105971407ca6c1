"""Which encodings work beyond the training length? Sections 6.6 and 6F G show the results.

    python -m studies.ch06.extrapolation --seeds 0 1 2 3 4 5 6 7
    python -m studies.ch06.extrapolation --table

A setting is a positional encoding in the copying task of `studies.ch06.copy_task`: for each
distance, a model is trained from scratch on 300 batches of 32 sequences of 48 tokens. `windows`
holds the accuracy at positions 0 to 47, 48 to 95, 96 to 191 and 720 to 767 of new sequences.

The setting `rotary` is then fine-tuned on 300 batches of sequences of 96 tokens, with and without
position interpolation. All at positions 48 to 95, `interpolated` is the accuracy with interpolated
positions before fine-tuning, and `tuned_interpolated` and `tuned` are the accuracies after
fine-tuning with and without interpolation.
"""

from copy import deepcopy

from gates2heads.book.ch06.copy_task import LENGTH, CopyTask, Interpolated, sequences
from gates2heads.book.studies import Study
from studies.ch06.copy_task import DISTANCES, train, trained

SETTINGS = ("sinusoidal", "rotary", "alibi")
TUNED = 300
TESTED = 60
WINDOWS = {"inside": 0, "next": LENGTH, "double": 2 * LENGTH, "far": 15 * LENGTH}
ENDS = {"inside": LENGTH, "next": 2 * LENGTH, "double": 4 * LENGTH, "far": 16 * LENGTH}


def accuracy(model, task, window: str, seed: int) -> float:
    """Accuracy in one window of new sequences."""
    tested = next(sequences(TESTED, length=ENDS[window], seed=10**6 + seed))
    return sum(
        task.right(model, part, since=WINDOWS[window]) * len(part) / TESTED
        for part in tested.split(20)
    )


def run(setting: str, seed: int) -> dict:
    """Train a model with one encoding for each distance."""
    result = {"distances": list(DISTANCES), "windows": {name: [] for name in WINDOWS}}
    if setting == "rotary":
        result |= {"interpolated": [], "tuned": [], "tuned_interpolated": []}
    for distance in DISTANCES:
        task, plain = CopyTask(distance), trained(setting, distance, seed)
        for window in WINDOWS:
            result["windows"][window].append(accuracy(plain, task, window, seed))
        if setting != "rotary":
            continue
        stretched = deepcopy(plain)
        stretched.mixer = Interpolated(stretched.mixer, 1 / 2)
        result["interpolated"].append(accuracy(stretched, task, "next", seed))
        for name, tuned in (("tuned", plain), ("tuned_interpolated", stretched)):
            train(tuned, task, steps=TUNED, length=2 * LENGTH, seed=1000 + seed, description=name)
            result[name].append(accuracy(tuned, task, "next", seed))
    return result


if __name__ == "__main__":
    Study("ch06/extrapolation", run, SETTINGS).main()
