"""At which layer does the translator know the word that it will write? Chapter 7 shows the answer.

    GATES2HEADS_DATA=… python benchmarks/readouts.py
    python benchmarks/readouts.py --table

The translator of the book writes 1,000 validation captions, greedily. At each step every depth of
the decoder is read out as if it were the last (`logit_lens`): after the embedding, and after each
block. A row tells of one depth the share of steps at which its first word is the one that is
written (`agrees`), at which it is so from here to the end (`settled`), at which it is so here and
not yet one depth before (`settles`), and at which it is the word that was read last (`repeats`);
how likely the written word is on average (`prob`), and its middle rank, 1 the first (`rank`). As a
control, `commonest` is the share of steps at which the commonest token of all is written. Nothing
is drawn, so there is one seed.
"""

from collections import Counter
from functools import cache

import torch

from gates2heads.decoding.walk import walk
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from gates2heads.training.studies import Study

CAPTIONS = 1000
DEPTHS = {"embedding": 0, "block 1": 1, "block 2": 2, "block 3": 3}


@cache
def walked() -> dict[str, torch.Tensor]:
    """Of every step of every caption (steps,) and depth (4, steps), what the rows tell."""
    trained = load(shipped_weights("translator"))
    parts = {name: [] for name in ("agrees", "repeats", "prob", "rank", "written")}
    for german, _ in trained.task.pairs("validation")[:CAPTIONS]:
        sides = trained.source, trained.target
        one = walk(trained.model, german, *sides, top=1, max_length=trained.task.max_length)
        first = [[words[0] for words in steps] for steps in one.readouts.words]
        read = ["<bos>", *one.target[:-1]]
        parts["agrees"].append(same(first, one.target))
        parts["repeats"].append(same(first, read))
        parts["prob"].append(one.readouts.written.exp())
        parts["rank"].append(one.readouts.rank + 1)
        parts["written"] += one.target
    written = parts.pop("written")
    return {name: torch.cat(part, dim=1) for name, part in parts.items()} | {"written": written}


def same(first: list[list[str]], words: list[str]) -> torch.Tensor:
    """Where the first word of each depth (depths, T) is the word of its step: bool."""
    return torch.tensor([[a == b for a, b in zip(one, words, strict=True)] for one in first])


def run(depth: str, seed: int) -> dict:
    """Measure one depth."""
    steps, at = walked(), DEPTHS[depth]
    settled = steps["agrees"].flip(0).cummin(dim=0).values.flip(0)  # here and at all depths after
    before = settled[at - 1] if at else torch.zeros_like(settled[0])
    (_, commonest), *_ = Counter(steps["written"]).most_common(1)
    return {
        "agrees": share(steps["agrees"][at]),
        "settled": share(settled[at]),
        "settles": share(settled[at] & ~before),
        "repeats": share(steps["repeats"][at]),
        "prob": round(float(steps["prob"][at].mean()), 4),
        "rank": float(steps["rank"][at].double().median()),
        "commonest": round(commonest / len(steps["written"]), 4),
        "steps": len(steps["written"]),
        "captions": CAPTIONS,
    }


def share(flags: torch.Tensor) -> float:
    """How many of some flags are True, from 0 to 1."""
    return round(float(flags.double().mean()), 4)


if __name__ == "__main__":
    Study("readouts", run, list(DEPTHS)).main()
