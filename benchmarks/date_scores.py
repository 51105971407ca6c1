"""How soon does each score function learn to read dates? Section 5.6 shows what comes out.

    python benchmarks/date_scores.py --seeds 0 1 2
    python benchmarks/date_scores.py --table

The encoder–decoder of chapter 5, U = 128, in eight languages, 180 steps of 64 dates, with every
score function that is one of its own (concat is the additive score under another name). Exact match
on 200 validation dates every ten steps.
"""

import torch

from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import exact_match
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear
from gates2heads.training.studies import Study

STEPS, EVERY, BATCH_SIZE = 180, 10, 64
SCORES = ("dot", "scaled dot", "general", "additive")


def run(score: str, seed: int) -> dict:
    """Train one model; give its size and its exact match in the course of training."""
    pairs = [(pair.text, pair.iso) for pair in dates("train", 30_000)]
    texts, wanted = zip(*((pair.text, pair.iso) for pair in dates("validation", 200)), strict=True)
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary), score=score)

    def exact(trained) -> float:
        return exact_match(translate(trained, texts, source, target, max_length=12), wanted)

    history = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
        evaluate=exact,
        evaluate_at=range(4 * EVERY, STEPS + 1, EVERY),
        description=f"{score}, seed {seed}",
    )
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "evaluated_at": history.evaluated_at,
        "exact_match": history.evaluations,
    }


if __name__ == "__main__":
    Study("date_scores", run, SCORES).main()
