"""The benefit of a cache by length. Chapter 7's page *Further* shows the results.

    python -m studies.ch07.cache_lengths
    python -m studies.ch07.cache_lengths --table

The translation model of the book generates up to 256 tokens for one caption, past every end, each
the most probable one that has not been generated yet: "kept" passes to each step the last token and
the cached keys and values; `"anew"` passes the whole target so far to the decoder at each step. The
source is encoded once in both. The tokens past the end have no meaning, but the same cost. Both
must generate the same tokens. `seconds` are those up to each of `lengths`, on one thread, each step
at its fastest of a few repetitions; `kept_bytes` is the size of the cached keys and values of the
target then.
"""

import time

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

CAPTION = "Ein kleiner Hund springt durch den tiefen Schnee."
LENGTHS = (8, 16, 32, 64, 128, 256)
ROUNDS = {"kept": 5, "anew": 4}


def kept_steps(model, source: Tensor):
    """A function from the last token (1,) to the log-probs (1, V) of the next, with the cache."""
    state = model.start(source)

    def step(last: Tensor) -> Tensor:
        nonlocal state
        log_probs, state = model.step(state, last)
        step.bytes = sum(part.nbytes for layer in state.past for part in layer)
        return log_probs

    return step


def anew_steps(model, source: Tensor):
    """The same, for which the decoder reads the whole target so far at each step."""
    begun = model.start(source)
    written = source.new_zeros(1, 0)

    def step(last: Tensor) -> Tensor:
        nonlocal written
        written = torch.cat([written, last[:, None]], dim=1)  # (1, t)
        vectors = model._embed(written, model.target_table)
        for depth, (layer, memory) in enumerate(
            zip(model._decoder_stack(), begun.memory, strict=True)
        ):
            vectors = model._add_positions(vectors, model.target_positions, depth=depth)
            vectors = layer(vectors, memory)
        return model.readout(vectors[:, -1:])[:, 0].log_softmax(dim=-1)

    step.bytes = 0
    return step


def write_on(step, vocabulary) -> tuple[list[int], list[float], list[int]]:
    """The tokens of one walk, the seconds of each step, and the bytes kept after it."""
    last, tokens, took, held = torch.tensor([vocabulary.bos]), [], [], []
    for _ in range(max(LENGTHS)):
        begin = time.perf_counter()
        log_probs = step(last)
        took.append(time.perf_counter() - begin)
        log_probs[:, [vocabulary.eos, *tokens]] = -torch.inf  # or it would end, or repeat itself
        last = log_probs.argmax(-1)
        tokens.append(last.item())
        held.append(step.bytes)
    return tokens, took, held


def run(way: str, seed: int) -> dict:
    """Time one way; nothing is random."""
    torch.set_num_threads(1)
    trained = load(shipped_weights("translator"))
    source = torch.tensor([trained.source.encode(CAPTION)])
    make = kept_steps if way == "kept" else anew_steps
    with torch.inference_mode():
        walks = [
            write_on(make(trained.model, source), trained.target.vocabulary)
            for _ in range(ROUNDS[way])
        ]
    assert all(tokens == walks[0][0] for tokens, _, _ in walks)
    fastest = [min(times) for times in zip(*(took for _, took, _ in walks), strict=True)]
    return {
        "source": source.shape[1],
        "lengths": list(LENGTHS),
        "seconds": [sum(fastest[:length]) for length in LENGTHS],
        "kept_bytes": [walks[0][2][length - 1] for length in LENGTHS],
        "tokens": walks[0][0],
    }


if __name__ == "__main__":
    Study("ch07/cache_lengths", run, tuple(ROUNDS)).main()
