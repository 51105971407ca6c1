"""When do induction heads form? One and two layers of attention. Section 13.2 shows the results.

    python -m studies.ch13.induction "one layer" "two layers" --seeds 0 1 2 3 4
    python -m studies.ch13.induction --seeds 0
    python -m studies.ch13.induction --table

The settings are models with one layer, two layers or one wide layer, which has more parameters than
two layers. They are trained on words of a Markov chain in which passages are repeated. The settings
that end in "x3" and "/3" have three times and a third of the learning rate; those that end in
"x4 steps" are trained for four times as many batches.

Losses are in nats per token. `chain` has test sequences like those of training, `random` sequences
of different words in which only the repeat occurs twice, `held` the same with offsets that did not
occur in training, and `plain` the chain without repeats.
"""

import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.induction import (
    RATE,
    STEPS,
    WIDTH,
    circuits,
    head_scores,
    plain_loss,
    scores,
    train_induction,
)
from gates2heads.book.ch13.repeats import held_out
from gates2heads.book.studies import Study

WIDE = 96  # with which one layer has more parameters than two layers with a width of 64
POINTS, WATCHED = 40, 128  # measured steps, and sequences at each of them
CHANGES = {
    "": (STEPS, RATE),
    " x3": (STEPS, 3 * RATE),
    " /3": (STEPS, RATE / 3),
    " x4 steps": (4 * STEPS, RATE),
    " /3 x4 steps": (4 * STEPS, RATE / 3),
}
SETTINGS = {
    **{
        f"{name}{change}": (layers, WIDTH, *how)
        for change, how in CHANGES.items()
        for name, layers in (("two layers", 2), ("one layer", 1))
    },
    "one wide layer": (1, WIDE, STEPS, RATE),
}
TESTS = {"chain": ("chain", "trained"), "random": ("random", "trained"), "held": ("random", "held")}


def watch(model) -> list[float]:
    """What is measured during training, in the order of `WATCHES`."""
    device = next(model.parameters()).device  # in `fit`, that of the training
    chain, random = (
        held_out(kind, size=WATCHED, seed=1).to(device) for kind in ("chain", "random")
    )
    on_chain, new, heads = scores(model, chain), scores(model, random), head_scores(model, random)
    found = [on_chain.first, on_chain.repeat, new.repeat, new.accuracy]
    return [*found, max(heads.prefix_matching), max(heads.previous)]


WATCHES = ("first", "repeat", "random", "random_accuracy", "prefix_matching", "previous")


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    torch.set_num_threads(1)
    layers, width, steps, rate = SETTINGS[setting]
    model, history = train_induction(
        layers,
        seed,
        width=width,
        steps=steps,
        rate=rate,
        evaluate=watch,
        evaluate_at=range(steps // POINTS, steps + 1, steps // POINTS),
        progress=False,
    )
    return {
        "parameters": parameters(model),
        "steps": steps,
        "rate": rate,
        "evaluated_at": history.evaluated_at,
        "history": {
            name: [round(row[column], 4) for row in history.evaluations]
            for column, name in enumerate(WATCHES)
        },
        **{name: scores(model, held_out(*kind))._asdict() for name, kind in TESTS.items()},
        "plain": plain_loss(model),
        **circuits(model),
        "training_seconds": history.seconds,
    }


if __name__ == "__main__":
    Study("ch13/induction", run, SETTINGS).main()
