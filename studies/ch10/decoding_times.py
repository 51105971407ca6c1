"""How long does each model of chapter 10 take to translate a caption, compared with the GRU?

    GATES2HEADS_DATA=… python -m studies.ch10.decoding_times --seeds 0 1 2
    python -m studies.ch10.decoding_times --table

Decoding time depends on the architecture and on the number of output tokens, but not on the values
of the parameters. The models are therefore randomly initialised, and every search generates the
same number of tokens, because `<eos>` does not end a sequence. That number is the mean length of
the references of the test set, and the sources are test captions of about the mean length.

A setting is a model. On one thread, it decodes alternately with the GRU without attention, in 5 to
15 repetitions for each way of decoding. For each way, the name that ends in "seconds" has the
median CPU time, in which waiting is not counted; those that end in "ratio", "low" and "high" have
the median, the lowest and the highest ratio to the GRU's time in the same repetition. On a slower
machine, the ratio should be similar.
"""

import os
import time
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import mean, median
from typing import NamedTuple

import torch

from gates2heads.book.ch10.board import RUNGS
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.decoding.beam import beam
from gates2heads.decoding.search import greedy
from gates2heads.training.recipes.recipe import build_model, read_recipe
from gates2heads.training.recipes.tasks import TASKS

BESIDE = "captions-gru"
WARM = 1  # repetitions before timing
LONGER = 4  # times the mean length


class Way(NamedTuple):
    """A decoding setting: captions at a time, beam width, length and number of repetitions."""

    captions: int
    width: int
    times: int
    rounds: int


WAYS = {
    "one_greedy": Way(1, 1, 1, 15),
    "one_beam": Way(1, 5, 1, 15),
    "one_greedy_long": Way(1, 1, LONGER, 9),
    "batch_greedy": Way(32, 1, 1, 7),
    "batch_beam": Way(32, 5, 1, 5),
}


@cache
def captions() -> tuple:
    """What is read, how many tokens are generated, and both tokenizers.

    The sources are the test captions whose length is closest to the mean.
    """
    recipe = read_recipe(BESIDE)
    task = TASKS[recipe["task"]](recipe["data"])
    source, target = task.tokenizers(task.pairs("train"))
    pairs = task.pairs("test")
    read = [source.encode(text) for text, _ in pairs]
    middle = mean(map(len, read))
    nearest = sorted(read, key=lambda one: abs(len(one) - middle))
    length = round(mean(len(target.encode(text)) for _, text in pairs))
    return nearest[: max(way.captions for way in WAYS.values())], length, source, target


def decoder(rung: str, seed: int, changes: Sequence[str] = ()):
    """A function that decodes in one way with a random model and gives the processor's seconds.

    Args:
        changes: of the recipe, such as "model.hidden_size=256".
    """
    texts, length, source, target = captions()
    torch.manual_seed(seed)
    recipe = read_recipe(rung, list(changes))
    model = build_model(recipe, len(source.vocabulary), len(target.vocabulary)).eval()

    @torch.no_grad()
    def decode(way: Way) -> float:
        tokens, mask = pad(texts[: way.captions])
        bos = torch.full((way.captions,), target.vocabulary.bos)
        how = {"bos": bos, "eos": None, "max_length": way.times * length}
        begin = time.process_time()
        state = model.start(tokens, mask=mask)
        if way.width == 1:
            greedy(model.step, state, **how)
        else:
            beam(model.step, state, **how, width=way.width, refill=True)
        return time.process_time() - begin

    return decode


def beside_the_gru(
    rung: str, seed: int, *, ways: Iterable[str], changes: Sequence[str] = ()
) -> dict:
    """Let a model and the GRU decode alternately.

    Args:
        ways: names of `WAYS`.
        changes: of the model's recipe.
    """
    one, other = decoder(rung, seed, changes), decoder(BESIDE, seed)
    result = {"tokens": captions()[1], "load": round(os.getloadavg()[0], 1)}
    for name in ways:
        way = WAYS[name]
        times = [(one(way), other(way)) for _ in range(WARM + way.rounds)][WARM:]
        ratios = [a / b for a, b in times]
        result |= {
            f"{name}_seconds": median(a for a, _ in times),
            f"{name}_ratio": median(ratios),
            f"{name}_low": min(ratios),
            f"{name}_high": max(ratios),
            f"{name}_rounds": way.rounds,
        }
    return result


def run(rung: str, seed: int) -> dict:
    """Let a model and the GRU decode alternately, in each of `WAYS`."""
    torch.set_num_threads(1)
    return beside_the_gru(rung, seed, ways=WAYS)


if __name__ == "__main__":
    Study("ch10/decoding_times", run, tuple(RUNGS)).main()
