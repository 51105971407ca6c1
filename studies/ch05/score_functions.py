"""How soon does each score function learn to read dates, and how certain is it during training?

Section 5.6 of chapter 5 shows the results.

    python -m studies.ch05.score_functions --seeds 0 1 2
    python -m studies.ch05.score_functions --table

A setting is the encoder–decoder of chapter 5 with 128 units, without attention or with a score
function; four settings have other learning rates. It is trained on dates in eight languages, on 180
batches of 64. The score "concat" is omitted because it is the additive score under another name.

Every ten steps, on 200 validation dates: `exact_match`; and, by teacher forcing, `spread`, the
standard deviation of the scores over the source, and `entropy`, that of the attention weights in
nats, each averaged over the target positions.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import Batch, collate, endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.layers.record import record
from gates2heads.metrics.exact_match import exact_match
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

STEPS, EVERY, BATCH_SIZE = 180, 10, 64
SCORES = ("one vector", "dot", "scaled dot", "general", "additive")
RATE = 5e-3
OTHER_RATES = (
    "one vector, rate 0.01",
    "scaled dot, rate 0.01",
    "dot, rate 0.002",
    "scaled dot, rate 0.002",
)


def look(model: EncoderDecoder, batch: Batch) -> dict[str, float]:
    """The spread of the scores and the entropy of the weights; nothing without attention."""
    if model.decoder.attention is None:
        return {}
    batch = batch.to(next(model.parameters()).device)  # in `fit`, that of the training
    with torch.no_grad(), record(model) as trace:
        model(batch)
    scores, weights = (trace.joined("decoder.attention", name) for name in ("scores", "weights"))
    real = batch.source_mask[:, None].expand_as(scores)  # (B, T, S)
    count = real.sum(-1)
    mean = scores.masked_fill(~real, 0.0).sum(-1) / count  # (B, T)
    off = (scores - mean[..., None]).masked_fill(~real, 0.0)
    spread = (off.square().sum(-1) / count).sqrt()
    entropy = -torch.xlogy(weights, weights).sum(-1)
    written = batch.target_mask
    return {"spread": spread[written].mean().item(), "entropy": entropy[written].mean().item()}


def run(setting: str, seed: int) -> dict:
    """Train one model; return its size and its exact match in the course of training."""
    score, _, rate = setting.partition(", rate ")
    pairs = [(pair.text, pair.iso) for pair in dates("train", 30_000)]
    held_out = [(pair.text, pair.iso) for pair in dates("validation", 200)]
    texts, wanted = zip(*held_out, strict=True)
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    sizes = len(source.vocabulary), len(target.vocabulary)
    model = EncoderDecoder(*sizes, score=None if score == "one vector" else score)
    batch = collate(encode_pairs(held_out, source, target))

    def measure(trained) -> dict[str, float]:
        written = translate(trained, texts, source, target, max_length=12)
        return {"exact_match": exact_match(written, wanted), **look(trained, batch)}

    untrained = measure(model)

    history = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=float(rate or RATE),
        schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
        evaluate=measure,
        evaluate_at=range(EVERY, STEPS + 1, EVERY),
        description=f"{score}, seed {seed}",
    )
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "evaluated_at": [0, *history.evaluated_at],
        **{name: [one[name] for one in (untrained, *history.evaluations)] for name in untrained},
    }


if __name__ == "__main__":
    Study("ch05/score_functions", run, SCORES + OTHER_RATES).main()
