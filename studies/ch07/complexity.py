"""The cost of a layer by length and width, which chapter 7 compares with the formulas.

    python -m studies.ch07.complexity
    python -m studies.ch07.complexity --table

One sequence of S vectors of width D is passed through one layer. `products` are
multiplications of matrices, counted by PyTorch (a multiplication and an addition are two); the
time is the least of many passes without a gradient, on one thread; `kept` are the bytes that a
pass keeps for its gradient, the weights of the layer left out.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from gates2heads.book.studies import Study
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import GRU

LENGTHS, WIDTH = (64, 128, 256, 512, 1024, 2048), 64
WIDTHS, LENGTH = (32, 64, 128, 256, 512, 1024), 128
HEADS, KERNEL = 4, 3
LEAST, PASSES, LONG = 5, 40, 1.0  # passes; no more of them after so many seconds
LAYERS = ("recurrence", "convolution", "self-attention", "self-attention, weights kept")


def layer_of(kind: str, width: int) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    """A randomly initialised layer, and a pass of vectors (1, S, D) through it."""
    if kind == "recurrence":
        layer = GRU(width, width)
        return layer, lambda vectors: layer(vectors)[0]
    if kind == "convolution":
        layer = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2)
        return layer, lambda vectors: layer(vectors.transpose(1, 2)).transpose(1, 2)
    layer = MultiHeadAttention(width, HEADS)
    if kind == "self-attention":
        return layer, layer

    def keeping(vectors: Tensor) -> Tensor:
        with record(layer):  # no fused kernel, since somebody wants to see the weights
            return layer(vectors)

    return layer, keeping


def least_seconds(run: Callable, vectors: Tensor) -> float:
    """The fastest of many passes."""
    took, begun = [], time.perf_counter()
    with torch.no_grad():
        while len(took) < PASSES:
            begin = time.perf_counter()
            run(vectors)
            took.append(time.perf_counter() - begin)
            if len(took) >= LEAST and time.perf_counter() - begun > LONG:
                break
    return min(took)


def counted_products(run: Callable, vectors: Tensor) -> int:
    """Multiplications and additions in products of matrices."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run(vectors)
    return counter.get_total_flops()


def kept_bytes(layer: nn.Module, run: Callable, vectors: Tensor) -> int:
    """Bytes that a pass keeps for the way back, each piece of memory counted once."""
    own = {parameter.untyped_storage().data_ptr() for parameter in layer.parameters()}
    kept, alive = {}, []

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)  # or its memory could be reused
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        run(vectors.requires_grad_())
    return sum(kept.values())


def measured(kind: str, sizes: list[tuple[int, int]]) -> dict:
    """Cost of a layer for sequences of given lengths and vectors of a given width."""
    found = {"products": [], "milliseconds": [], "kept": []}
    for length, width in sizes:
        layer, run = layer_of(kind, width)
        vectors = torch.randn(1, length, width)
        # PyTorch counts nothing inside a fused kernel: the same products, written out
        counted = layer_of("self-attention, weights kept", width)[1] if "self" in kind else run
        found["products"].append(counted_products(counted, vectors))
        found["milliseconds"].append(1000 * least_seconds(run, vectors))
        found["kept"].append(kept_bytes(layer, run, vectors))
    return found


def run(kind: str, seed: int) -> dict:
    """Measure one kind of layer over length and over width."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return {
        "lengths": list(LENGTHS),
        "width": WIDTH,
        "over_length": measured(kind, [(length, WIDTH) for length in LENGTHS]),
        "widths": list(WIDTHS),
        "length": LENGTH,
        "over_width": measured(kind, [(LENGTH, width) for width in WIDTHS]),
    }


if __name__ == "__main__":
    Study("ch07/complexity", run, LAYERS).main()
