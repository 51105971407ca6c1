"""What does each head of the translator attend to? Sections 6.7 and 6F E show the results.

    GATES2HEADS_DATA=… python -m studies.ch06.head_patterns
    python -m studies.ch06.head_patterns --table

The book's translator reads 300 validation captions with teacher forcing. For each of its 36 heads
we store the numbers of `watching.head_statistics`; `stop` is the attention weight on full stops.
For the encoder, `inside` is the mean distance if the first token, the full stops and the last token
are left out as keys, and the other weights divided by their sum.
The setting `untrained` is the same architecture with a random initialisation, given by the seed.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.layers.attention.heads_off import heads_of
from gates2heads.layers.record import record
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.recipe import build_model
from gates2heads.training.recipes.runs import load
from gates2heads.watching.head_statistics import head_statistics

CAPTIONS = 300
STOP = "."


def run(setting: str, seed: int) -> dict:
    """Describe all heads of one of the two models."""
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
        side, tokens = (
            (trained.target, batch.target_in)
            if keys is batch.target_mask
            else (trained.source, batch.source)
        )
        (stop,) = side.vocabulary.encode([STOP])
        (weights,) = trace[layer]["weights"]
        statistics = head_statistics(weights, queries=queries, keys=keys, marked=tokens == stop)
        statistics["stop"] = statistics.pop("marked")
        if kind == "encoder":
            others = keys & keys.roll(-1, 1) & (tokens != stop)  # all but the last and full stops
            others[:, 0] = others[:, -1] = False  # the last column of `roll` came from the first
            kept = weights * others[:, None, None]
            kept = kept / kept.sum(-1, keepdim=True).clamp_min(1e-9)
            statistics["inside"] = head_statistics(kept, queries=queries, keys=keys)["distance"]
        for head in range(weights.shape[1]):
            name = f"{kind} {int(layer.split('.')[1]) + 1}.{head + 1}"
            described[name] = {
                key: round(values[head].item(), 4) for key, values in statistics.items()
            }
    return {"captions": CAPTIONS, "heads": described}


if __name__ == "__main__":
    Study("ch06/head_patterns", run, ("trained", "untrained")).main()
