"""What do cached keys, batches and a wider beam cost? Both pages of chapter 8 show the results.

    GATES2HEADS_DATA=… python -m studies.ch08.decoding_speed
    python -m studies.ch08.decoding_speed --table

The translator of the book writes 64 test captions with a beam of 5, on one thread: from the cached
keys and values of the prefix, or recomputing them all at each step; one caption after the other, or
all in one batch. All ways must generate the same output.
"""

import time
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import Batch, pad
from gates2heads.decoding.beam import beam
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

CAPTIONS, WIDTH, LONGEST, ROUNDS = 64, 5, 64, 3
WAYS = {
    "no cache, one by one": (False, 1),
    "no cache, one batch": (False, CAPTIONS),
    "cache, one by one": (True, 1),
    "cache, one batch": (True, CAPTIONS),
}


class Text(NamedTuple):
    """All that a step without cache knows: the source and the prefix."""

    source: Tensor  # (B, S) long
    mask: Tensor  # (B, S) bool
    written: Tensor  # (B, t) long


def without_cache(model):
    """A step function that recomputes all of source and target."""

    def step(state: Text, last_tokens: Tensor):
        written = torch.cat([state.written, last_tokens[:, None]], dim=1)
        real = torch.ones_like(written, dtype=torch.bool)
        batch = Batch(state.source, state.mask, written, written, real)
        return model(batch)[:, -1].log_softmax(dim=-1), state._replace(written=written)

    return step


def run(way: str, seed: int) -> dict:
    """Time one way, the fastest of a few repetitions; nothing is sampled."""
    torch.set_num_threads(1)
    trained = load(shipped_weights("translator"))
    model, words = trained.model, trained.target.vocabulary
    cached, together = WAYS[way]
    texts = [german for german, _ in trained.task.pairs("test")[:CAPTIONS]]
    read = [trained.source.encode(text) for text in texts]
    step = model.step if cached else without_cache(model)

    def write(some: list[list[int]]) -> list[list[int]]:
        tokens, mask = pad(some)
        if cached:
            state = model.start(tokens, mask=mask)
        else:
            state = Text(tokens, mask, tokens.new_zeros(len(tokens), 0))
        bos = torch.full((len(some),), words.bos)
        found = beam(step, state, bos=bos, eos=words.eos, max_length=LONGEST, width=WIDTH)
        lengths = found.length[:, 0].tolist()
        return [
            row[:length] for row, length in zip(found.tokens[:, 0].tolist(), lengths, strict=True)
        ]

    took = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with torch.inference_mode():
            rows = [
                row for n in range(0, CAPTIONS, together) for row in write(read[n : n + together])
            ]
        took.append(time.perf_counter() - begin)
    tokens = sum(map(len, rows))
    return {
        "captions": CAPTIONS,
        "width": WIDTH,
        "tokens": tokens,
        "captions_a_second": CAPTIONS / min(took),
        "milliseconds_a_token": 1000 * min(took) / tokens,
        "checksum": sum(place * token for row in rows for place, token in enumerate(row, 1)),
    }


if __name__ == "__main__":
    Study("ch08/decoding_speed", run, tuple(WAYS)).main()
