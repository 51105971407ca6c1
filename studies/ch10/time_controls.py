"""What explains the times of chapter 10? The same measurement, with one size of a model changed.

    GATES2HEADS_DATA=… python -m studies.ch10.time_controls --seeds 0 1
    python -m studies.ch10.time_controls --table

As in `decoding_times` and `step_times`, each model takes turns with the GRU of chapter 10, and the
results are the median ratios of their CPU times. A setting changes one size of a model: the GRU
without attention gets the width of the GRUs with attention, and these get the GRU's width; the
Transformer gets one layer instead of three on each side; and the non-autoregressive model computes
only as many positions as the outputs have tokens. Some models are timed unchanged on the same
processor for comparison. For the non-autoregressive model, `training_ratio` is the ratio of the
times of a training step. No trained model is needed.
"""

from collections.abc import Mapping
from statistics import median

import torch

from gates2heads.book.studies import Study
from studies.ch10 import decoding_times, step_times

WAYS = ("one_greedy", "one_beam", "batch_greedy")
NARROW, WIDE = "model.hidden_size=256", "model.hidden_size=512"
ONE_LAYER = ("model.num_encoder_layers=1", "model.num_decoder_layers=1")
SLOTS = "model.slots={}"  # filled with the number of output tokens
SETTINGS = {
    "GRU, width 256": ("captions-gru", (NARROW,)),
    "additive attention": ("captions-bahdanau", ()),
    "additive attention, width 512": ("captions-bahdanau", (WIDE,)),
    "Luong's attention": ("captions-luong", ()),
    "Luong's attention, width 512": ("captions-luong", (WIDE,)),
    "convolutional model": ("captions-convolutional", ()),
    "Transformer": ("captions-transformer", ()),
    "Transformer, one layer": ("captions-transformer", ONE_LAYER),
    "non-autoregressive model": ("captions-at-once", ()),
    "non-autoregressive model, few positions": ("captions-at-once", (SLOTS,)),
}


def training(rung: str, seed: int, *, few: bool) -> float:
    """The median ratio of a training step to the GRU's.

    Args:
        few: whether the model computes as many positions as the batch's longest target.
    """
    return median(a / b for a, b in step_times.beside_the_gru(rung, seed, per_batch_slots=few))


def run(setting: str, seed: int) -> Mapping:
    """Let a model and the GRU decode alternately; the non-autoregressive one also trains."""
    torch.set_num_threads(1)
    rung, changes = SETTINGS[setting]
    tokens = decoding_times.captions()[1]
    result = decoding_times.beside_the_gru(
        rung, seed, ways=WAYS, changes=[change.format(tokens) for change in changes]
    )
    if rung == "captions-at-once":
        result["training_ratio"] = training(rung, seed, few=bool(changes))
    return result


if __name__ == "__main__":
    Study("ch10/time_controls", run, tuple(SETTINGS)).main()
