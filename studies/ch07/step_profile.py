"""Where does the time of a decoding step go? Chapter 7's page *Further* shows the result.

    python -m studies.ch07.step_profile
    python -m studies.ch07.step_profile --table

The decoder of the book's translator processes a prefix of a number of tokens in one pass, as a
decoding step without a cache does; one token is what a step with a cache processes. `milliseconds`
of processor time are the least of many passes on one thread; `macs` are multiply–accumulate
operations, counted by PyTorch; `operators` are the calls of PyTorch operators that a pass makes;
`products` is the share of the profiled time that is spent in matrix products.
"""

import time

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from gates2heads.book.studies import Study
from gates2heads.layers.record import record
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

CAPTION = "Ein kleiner Hund springt durch den tiefen Schnee."
LENGTHS = (1, 4, 16, 64, 256)
PASSES, PROFILED = 40, 5
PRODUCTS = ("aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm")


def run(setting: str, seed: int) -> dict:
    """Time, count and profile passes of every length."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    trained = load(shipped_weights("translator"))
    model = trained.model
    state = model.start(torch.tensor([trained.source.encode(CAPTION)]))
    tokens = torch.randint(3, model.target_size, (1, max(LENGTHS)))

    def decode(length: int) -> None:
        vectors = model._embed(tokens[:, :length], model.target_table)
        layers = zip(model._decoder_stack(), state.memory, strict=True)
        for depth, (layer, memory) in enumerate(layers):
            vectors = model._add_positions(vectors, model.target_positions, depth=depth)
            vectors = layer(vectors, memory)
        model.readout(vectors[:, -1:])

    measured = {"lengths": list(LENGTHS), "milliseconds": [], "macs": [], "operators": []}
    measured["products"] = []
    with torch.inference_mode():
        for length in LENGTHS:
            took = []
            for _ in range(PASSES):
                begin = time.process_time()
                decode(length)
                took.append(time.process_time() - begin)
            measured["milliseconds"].append(round(1000 * min(took), 4))
            with record(model), FlopCounterMode(display=False) as counter:
                decode(length)
            measured["macs"].append(counter.get_total_flops() // 2)
            with profile(activities=[ProfilerActivity.CPU]) as seen:
                for _ in range(PROFILED):
                    decode(length)
            events = seen.key_averages()
            measured["operators"].append(sum(one.count for one in events) // PROFILED)
            spent = {one.key: one.self_cpu_time_total for one in events}
            inside = sum(spent.get(name, 0.0) for name in PRODUCTS)
            measured["products"].append(round(inside / sum(spent.values()), 3))
    return measured


if __name__ == "__main__":
    Study("ch07/step_profile", run, ("prefixes",)).main()
