"""At which layer does the translator know the next token of its output? For chapter 7.

    GATES2HEADS_DATA=… python -m studies.ch07.logit_lens
    python -m studies.ch07.logit_lens --table

The translator of the book translates 1,000 validation captions by greedy search. A setting is a
depth of the decoder: after the embedding, or after one of the blocks. At each step, its vectors are
decoded as if they were those of the last block (`logit_lens`). The following are shares of steps:

- `agrees`: the most probable token at this depth is the output;
- `settled`: it is the output at this depth and at all later ones;
- `settles`: it is settled at this depth, but not at the previous one;
- `repeats`: it is the token that the decoder read last;
- `agrees_without_input`: the output is the most probable of all tokens but the one read last, which
  stays probable because the embedding matrix is also the output projection.

`prob` is the mean probability of the output token, `rank` its median rank, 1 for the most probable.
There are two controls: `commonest` is the share of steps whose output is the most frequent token,
and `bigram` the share that is predicted from the token read last alone, by a table of counts from
the other half of the captions. Nothing is random, so there is one seed.
"""

from collections import Counter
from functools import cache

import torch
from torch import Tensor

from gates2heads.book.studies import Study
from gates2heads.decoding.translation import write
from gates2heads.layers.record import record
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from gates2heads.watching.walk import logit_lens

CAPTIONS, AT_ONCE = 1000, 50
DEPTHS = {"embedding": 0, "block 1": 1, "block 2": 2, "block 3": 3}


@cache
def steps() -> dict[str, Tensor]:
    """The measures of the rows, for each depth at every step of every caption: (4, steps)."""
    trained = load(shipped_weights("translator"))
    texts = [german for german, _ in trained.task.pairs("validation")[:CAPTIONS]]
    texts.sort(key=len)
    parts = [batch(trained, texts[n : n + AT_ONCE]) for n in range(0, CAPTIONS, AT_ONCE)]
    joined = {name: torch.cat([part[name] for part in parts], dim=-1) for name in parts[0]}
    halves = [torch.full_like(part["written"], n % 2) for n, part in enumerate(parts)]
    return joined | {"half": torch.cat(halves)}


def batch(trained, texts: list[str]) -> dict[str, Tensor]:
    """The same of a few captions."""
    model, words = trained.model, trained.target.vocabulary
    sides = trained.source, trained.target
    with record(model) as trace:
        written = write(model, texts, *sides, max_length=trained.task.max_length).tokens  # (B, T)
    read = torch.cat([torch.full_like(written[:, :1], words.bos), written[:, :-1]], dim=1)
    real, own = written != words.pad, written[..., None]  # the end of a row is padding
    streams = [trace.joined("decoder_layers.0.self_residual", "before")]
    streams += (
        trace.joined(f"decoder_layers.{depth}.feed_forward_residual", "after")
        for depth in range(len(model.decoder_layers))
    )
    found = {"agrees": [], "agrees_without_input": [], "repeats": [], "prob": [], "rank": []}
    for vectors in streams:
        log_probs = logit_lens(model, vectors)  # (B, T, V)
        first, chosen = log_probs.argmax(dim=2), log_probs.gather(2, own)
        found["agrees"].append((first == written)[real])
        others = log_probs.scatter(2, read[..., None], -torch.inf)
        found["agrees_without_input"].append((others.argmax(dim=2) == written)[real])
        found["repeats"].append((first == read)[real])
        found["prob"].append(chosen[..., 0].exp()[real])
        found["rank"].append(1 + (log_probs > chosen).sum(dim=2)[real])
    return {name: torch.stack(part) for name, part in found.items()} | {
        "written": written[real],
        "read": read[real],
    }


def bigram(found: dict[str, Tensor]) -> float:
    """Share of outputs that a table of pairs finds, counted on the other half of the steps."""
    steps = list(zip(*(found[name].tolist() for name in ("half", "read", "written")), strict=True))
    counts = Counter(steps)
    best = {}
    for (half, read, written), _ in counts.most_common():
        best.setdefault((half, read), written)
    return share(torch.tensor([best.get((1 - half, read)) == out for half, read, out in steps]))


def run(depth: str, seed: int) -> dict:
    """Measure one depth."""
    found, at = steps(), DEPTHS[depth]
    settled = found["agrees"].flip(0).int().cummin(dim=0).values.flip(0).bool()  # from here on
    before = settled[at - 1] if at else torch.zeros_like(settled[0])
    commonest = Counter(found["written"].tolist()).most_common(1)[0][1]
    return {
        "agrees": share(found["agrees"][at]),
        "agrees_without_input": share(found["agrees_without_input"][at]),
        "settled": share(settled[at]),
        "settles": share(settled[at] & ~before),
        "repeats": share(found["repeats"][at]),
        "prob": round(float(found["prob"][at].mean()), 4),
        "rank": float(found["rank"][at].double().median()),
        "commonest": round(commonest / len(found["written"]), 4),
        "bigram": bigram(found),
        "steps": len(found["written"]),
        "captions": CAPTIONS,
    }


def share(flags: Tensor) -> float:
    """How many of some flags are True, from 0 to 1."""
    return round(float(flags.double().mean()), 4)


if __name__ == "__main__":
    Study("ch07/logit_lens", run, list(DEPTHS)).main()
