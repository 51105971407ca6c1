"""What does each head of the translator look at? Section 6.7 shows what comes out.

    GATES2HEADS_DATA=… python benchmarks/heads_seen.py
    python benchmarks/heads_seen.py --table

The translator of the book reads 300 validation captions and, before each token that it would write,
the true ones before it. Of each of its 36 heads: the numbers of `metrics.head_statistics`. The
setting `untrained` is a twin with fresh weights, drawn by the seed.
"""

import torch

from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.layers.attention.heads_off import heads_of
from gates2heads.layers.record import record
from gates2heads.metrics.head_statistics import head_statistics
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.recipe import build_model
from gates2heads.training.recipes.runs import load
from gates2heads.training.studies import Study

CAPTIONS = 300


def run(setting: str, seed: int) -> dict:
    """Let one of the two models read, and describe all its heads."""
    trained = load(shipped_weights("translator"))
    sizes = [len(side.vocabulary) for side in (trained.source, trained.target)]
    torch.manual_seed(seed)
    twin = build_model(trained.card["recipe"], *sizes).eval()
    model = trained.model if setting == "trained" else twin
    pairs = trained.task.pairs("validation")[:CAPTIONS]
    batch = collate(encode_pairs(pairs, trained.source, trained.target))
    with torch.no_grad(), record(model) as trace:
        model(batch)
    described = {}
    for layer in dict.fromkeys(head.layer for head in heads_of(model)):
        kind = "encoder" if layer.startswith("encoder") else "decoder"
        queries = batch.source_mask if kind == "encoder" else batch.target_mask
        keys = batch.target_mask if "decoder_layers" in layer else batch.source_mask
        if layer.endswith("cross_attn"):
            kind, keys = "cross", batch.source_mask
        (weights,) = trace[layer]["weights"]
        told = head_statistics(weights, queries=queries, keys=keys)
        for head in range(weights.shape[1]):
            name = f"{kind} {int(layer.split('.')[1]) + 1}.{head + 1}"
            described[name] = {key: round(values[head].item(), 4) for key, values in told.items()}
    return {"captions": CAPTIONS, "heads": described}


if __name__ == "__main__":
    Study("heads_seen", run, ("trained", "untrained")).main()
