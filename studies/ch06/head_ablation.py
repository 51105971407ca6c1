"""What does each head of the translator contribute? Sections 6.7 and 6F E show the results.

    GATES2HEADS_DATA=… python -m studies.ch06.head_ablation
    python -m studies.ch06.head_ablation --table

The translator of the book translates 300 validation captions by greedy search. A setting switches
off one of its 36 heads, or all heads of one kind; `none` switches nothing off. Heads are named by
kind, layer and number, the last two counted from 1. `bleu` is the BLEU score, `lost` its decrease
with the 95 % interval of a paired bootstrap (`lost_from`, `lost_to`), and `otherwise` the number of
outputs that change.
"""

from functools import cache

from gates2heads.book.studies import Study
from gates2heads.decoding.translation import translate
from gates2heads.layers.attention.heads_off import Head, heads_of, heads_off
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

CAPTIONS, AT_ONCE = 300, 100
KINDS = {
    "encoder": "encoder_layers.{}.self_attn",
    "decoder": "decoder_layers.{}.self_attn",
    "cross": "decoder_layers.{}.cross_attn",
}
ONE_EACH = {
    f"{kind} {layer + 1}.{head + 1}": [Head(name.format(layer), head)]
    for kind, name in KINDS.items()
    for layer in range(3)
    for head in range(4)
}
ALL_OF_A_KIND = {
    f"all {kind}": [head for name, off in ONE_EACH.items() if name.startswith(kind) for head in off]
    for kind in KINDS
}
OFF = {"none": [], **ONE_EACH, **ALL_OF_A_KIND}


@cache
def translator():
    """The model with its tokenizers, and the captions (German, English) to translate."""
    trained = load(shipped_weights("translator"))
    pairs = sorted(trained.task.pairs("validation")[:CAPTIONS], key=lambda pair: len(pair[0]))
    return trained, pairs


@cache
def written(off: str) -> list[str]:
    """Its outputs with some of its heads off."""
    trained, pairs = translator()
    texts = [german for german, _ in pairs]
    with heads_off(trained.model, OFF[off]):
        return [
            text
            for start in range(0, len(texts), AT_ONCE)
            for text in translate(
                trained.model,
                texts[start : start + AT_ONCE],
                trained.source,
                trained.target,
                max_length=trained.task.max_length,
            )
        ]


def run(off: str, seed: int) -> dict:
    """Measure one setting; the seed is that of the bootstrap, since greedy search draws nothing."""
    bleu, wanted = Bleu(), [[english] for _, english in translator()[1]]
    whole, without = (bleu.statistics(written(name), wanted) for name in ("none", off))
    compared = paired_bootstrap(
        whole, without, lambda sums: bleu.from_statistics(sums).score, seed=seed
    )
    return {
        "bleu": compared.score_b,
        "lost": compared.difference,
        "lost_from": compared.interval_difference.low,
        "lost_to": compared.interval_difference.high,
        "otherwise": sum(a != b for a, b in zip(written("none"), written(off), strict=True)),
        "captions": CAPTIONS,
        "heads": len(heads_of(translator()[0].model)),
    }


if __name__ == "__main__":
    Study("ch06/head_ablation", run, OFF).main()
