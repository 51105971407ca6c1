"""How much of the time of a GRU is the cost of Python? Chapter 7 compares it with self-attention.

    python -m studies.ch07.compiled_gru
    python -m studies.ch07.compiled_gru --table

One sequence of S vectors of width D is passed through the GRU of our library, which Python calls
once for each position, through `torch.nn.GRU`, whose loop is compiled, and through one layer of
self-attention. The time is the least of many passes without a gradient, on one thread.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gates2heads.book.studies import Study
from studies.ch07.complexity import LENGTHS, WIDTH, layer_of, least_seconds

LAYERS = ("recurrence", "recurrence, compiled", "self-attention")


def pass_of(kind: str) -> Callable[[Tensor], Tensor]:
    """A pass of vectors (1, S, D) through a randomly initialised layer."""
    if kind == "recurrence, compiled":
        layer = nn.GRU(WIDTH, WIDTH, batch_first=True)
        return lambda vectors: layer(vectors)[0]
    return layer_of(kind, WIDTH)[1]


def run(kind: str, seed: int) -> dict:
    """Measure one kind of layer over length."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    layer = pass_of(kind)
    return {
        "lengths": list(LENGTHS),
        "width": WIDTH,
        "milliseconds": [
            1000 * least_seconds(layer, torch.randn(1, length, WIDTH)) for length in LENGTHS
        ],
    }


if __name__ == "__main__":
    Study("ch07/compiled_gru", run, LAYERS).main()
