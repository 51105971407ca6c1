"""Do trained networks keep a letter by gates near their limits? See sections 1.6 and 1F H.

    python -m studies.ch01.trained_gates --seeds 0 1 2
    python -m studies.ch01.trained_gates --table

A setting is a recurrent layer, trained on the recall task with distances of 1 to 40 for 400
batches, and tested on 500 new sequences of distance 40. The settings that end in "x4" are trained
for four times as many batches, those that end in "/3" for three times as many batches with a third
of the learning rate.

`kept` is the mean of the forget gates or update gates over all units and noise symbols after
training, `kept_before` the same before training. `keeping` counts, for each letter, the units whose
gate is above 0.95 (`NEAR`) on average over the noise symbols of the sequences that begin with this
letter. `agrees` is the proportion of the values added to the cell state that have the sign of the
component to which they are added.

`recalled` is the share of letters recalled while the layer is changed for the noise symbols only:

- "free": nothing is changed;
- "state kept": f = 1 and i = 0, or z = 1;
- "i = 0": the input gates alone are clamped;
- "f = 0": the forget gates alone are clamped;
- "no candidate path": the candidate does not depend on the hidden state, so that the letter can
  influence what is added to the cell state only through the gates.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import torch

from gates2heads.book.ch01.recall_task import LETTERS, Rememberer, recall_loss, texts
from gates2heads.book.studies import Study
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import LSTM, clamp_gates
from gates2heads.training.loop import fit

DISTANCE, BATCH_SIZE, TESTED, RATE = 40, 32, 500, 3e-3
NEAR = 0.95  # a gate above it keeps more than an eighth of a value over DISTANCE steps


class How(NamedTuple):
    """A network and its training."""

    cell: str
    options: Mapping[str, float]
    steps: int
    rate: float = RATE


NETWORKS = {
    "gru": How("gru", {}, 400),
    "lstm, bias 1": How("lstm", {"forget_bias": 1.0}, 400),
    "lstm, bias 3": How("lstm", {"forget_bias": 3.0}, 400),
}
SETTINGS = {
    **NETWORKS,
    **{f"{name}, x4": how._replace(steps=4 * how.steps) for name, how in NETWORKS.items()},
    **{
        f"{name}, /3": how._replace(steps=3 * how.steps, rate=RATE / 3)
        for name, how in NETWORKS.items()
    },
}


def run(setting: str, seed: int) -> dict:
    """Train a network, and measure its gates and what clamping them does."""
    how = SETTINGS[setting]
    torch.manual_seed(seed)
    model = Rememberer(how.cell, **how.options)
    tested = next(texts(TESTED, DISTANCE, shortest=DISTANCE, seed=10**6 + seed))
    lstm = isinstance(model.recurrent, LSTM)
    keeper = "forget_l0" if lstm else "update_l0"
    before = recorded(model, tested)[keeper]
    fit(
        model,
        texts(BATCH_SIZE, DISTANCE, seed=seed),
        steps=how.steps,
        loss=recall_loss,
        learning_rate=how.rate,
        description=f"{setting}, seed {seed}",
    )
    model.eval()
    gates = recorded(model, tested)
    layer, keep = model.recurrent, {"forget": 1.0, "input": 0.0} if lstm else {"update": 1.0}
    changes = {"free": nullcontext(), "state kept": clamp_gates(layer, keep)}
    result = {"steps": how.steps, "rate": how.rate, "distance": DISTANCE}
    result |= {"kept_before": before.mean().item(), "kept": gates[keeper].mean().item()}
    result |= {
        "keeping_before": keeping(before, tested[:, 0]),
        "keeping": keeping(gates[keeper], tested[:, 0]),
    }
    if lstm:
        changes["i = 0"] = clamp_gates(layer, {"input": 0.0})
        changes["f = 0"] = clamp_gates(layer, {"forget": 0.0})
        changes["no candidate path"] = without_candidate_path(layer)
        added, cell = gates["input_l0"] * gates["candidate_l0"], gates["cell_before"]
        result |= {
            "input": gates["input_l0"].mean().item(),
            "agrees": (added * cell > 0).double().mean().item(),
        }
    right = {name: recalled_with(model, tested, change) for name, change in changes.items()}
    return {**result, "recalled": right}


def recorded(model: Rememberer, batch: torch.Tensor) -> dict[str, torch.Tensor]:
    """The gates (B, k, U) at the k noise symbols of texts; of an LSTM also the cell before each."""
    with record(model) as trace, torch.no_grad():
        model(batch)
    whole = {name: trace["recurrent"][name][0] for name in trace["recurrent"]}
    found = {name: values[:, 1:] for name, values in whole.items()}
    if "cell_l0" in whole:
        found["cell_before"] = whole["cell_l0"][:, :-1]
    return found


def keeping(gates: torch.Tensor, letters: torch.Tensor) -> list[int]:
    """For each letter, how many of the units of gates (B, k, U) are above NEAR on average."""
    means = (gates[letters == letter].mean((0, 1)) for letter in range(LETTERS))  # (U,) each
    return [(mean > NEAR).sum().item() for mean in means]


@torch.no_grad()
def recalled_with(model: Rememberer, batch: torch.Tensor, change: AbstractContextManager) -> float:
    """The share of letters recalled, with a change in effect at all symbols after the letter."""
    vectors, layer = model.vectors(batch), model.recurrent
    _, state = layer(vectors[:, :1])
    with change:
        states, _ = layer(vectors[:, 1:], initial=state)
    return (model.readout(states[:, -1]).argmax(-1) == batch[:, 0]).double().mean().item()


@contextmanager
def without_candidate_path(layer: LSTM) -> Iterator[None]:
    """Compute the candidates without the hidden state while the block runs."""
    units = layer.hidden_size
    weights = layer.weight_hh_l0.data
    candidate = weights[2 * units : 3 * units]  # rows: input gate, forget gate, candidate, output
    saved = candidate.clone()
    candidate.zero_()
    try:
        yield
    finally:
        candidate.copy_(saved)


if __name__ == "__main__":
    Study("ch01/trained_gates", run, SETTINGS).main()
