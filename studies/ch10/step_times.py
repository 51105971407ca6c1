"""The cost of one training step of each model, from which chapter 10 computes total costs.

    GATES2HEADS_DATA=… python -m studies.ch10.step_times
    python -m studies.ch10.step_times --table

The durations of the training runs were measured under varying load, so they are not comparable.
Here every model takes `ROUNDS` steps on one thread, and after each of them the GRU without
attention takes one with the same batch. The results are the median CPU time (without waiting time),
and the median ratio to the adjacent step of the GRU, which depends little on the machine.
Parameters and batches depend on the seed.
"""

import os
import time
from functools import cache, partial
from itertools import islice
from statistics import median

import torch

from gates2heads.book.ch10.board import RUNGS
from gates2heads.book.studies import Study
from gates2heads.training.loop import train_step
from gates2heads.training.losses import sequence_loss
from gates2heads.training.parallel import precision_here, prepare_accelerator
from gates2heads.training.recipes.recipe import build_model, read_recipe
from gates2heads.training.recipes.tasks import TASKS

BESIDE = "captions-gru"
WARM, ROUNDS = 2, 15  # steps before the clock runs, and under it


@cache
def batches(seed: int) -> tuple:
    """The first batches of the captions, and the sizes of both vocabularies."""
    recipe = read_recipe(BESIDE)
    task = TASKS[recipe["task"]](recipe["data"])
    pairs = task.pairs("train")
    source, target = task.tokenizers(pairs)
    stream = task.batches(pairs, source, target, recipe["training"]["batch_size"], seed=seed)
    sizes = len(source.vocabulary), len(target.vocabulary)
    return list(islice(stream, WARM + ROUNDS)), sizes


def stepper(rung: str, seed: int, *, per_batch_slots: bool = False):
    """A function that trains the model on one batch and returns the CPU seconds.

    Args:
        per_batch_slots: a non-autoregressive model computes only the positions of the batch.
    """
    recipe = read_recipe(rung)
    how = recipe["training"]
    torch.manual_seed(seed)
    accelerator = prepare_accelerator(precision_here(how["precision"]))
    model = build_model(recipe, *batches(seed)[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model, optimizer = accelerator.prepare(model, optimizer)
    loss = partial(sequence_loss, label_smoothing=how["label_smoothing"])

    def step(batch) -> float:
        if per_batch_slots:
            accelerator.unwrap_model(model).slots = batch.target_in.shape[1]
        begin = time.process_time()
        train_step(accelerator, model, optimizer, loss, batch, clip=how["clip"])
        return time.process_time() - begin

    return step


def beside_the_gru(
    rung: str, seed: int, *, per_batch_slots: bool = False
) -> list[tuple[float, float]]:
    """The CPU seconds of alternate steps of a model and of the GRU, after the first `WARM`.

    Args:
        per_batch_slots: see `stepper`.
    """
    one, other = stepper(rung, seed, per_batch_slots=per_batch_slots), stepper(BESIDE, seed)
    return [(one(batch), other(batch)) for batch in batches(seed)[0]][WARM:]


def run(rung: str, seed: int) -> dict:
    """Alternate steps of a model and of the GRU."""
    torch.set_num_threads(1)
    times = beside_the_gru(rung, seed)
    own, beside = map(list, zip(*times, strict=True))
    return {
        "seconds_a_step": median(own),
        "seconds_of_the_gru": median(beside),
        "ratio": median(a / b for a, b in times),
        "steps": read_recipe(rung)["training"]["steps"],
        "rounds": ROUNDS,
        "load": round(os.getloadavg()[0], 1),  # processes that wanted the machine, of the minute
    }


if __name__ == "__main__":
    Study("ch10/step_times", run, tuple(RUNGS)).main()
