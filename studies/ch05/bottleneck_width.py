"""Would a wider vector store more? Section 5.1 of chapter 5 shows the results.

    python -m studies.ch05.bottleneck_width --seeds 0 1 2
    python -m studies.ch05.bottleneck_width --table

A setting is the encoder–decoder of section 5.1 without attention, with a state of 64 to 512
dimensions, or the one with attention and 64 dimensions. Each is trained on lists of three dates in
the forms of that section. `dates_right` is the share of single dates that are correct at their
position in 100 validation lists, measured after every 100 batches.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import date_lists
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.metrics.exact_match import parts_right
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

STEPS, EVERY, BATCH_SIZE, COUNT = 600, 100, 32, 3
LISTS = {"locales": ("en", "fr", "de"), "forms": ("medium", "yMMMd")}
WIDTHS = {"attention": 64, "64": 64, "128": 128, "256": 256, "512": 512}


def run(setting: str, seed: int) -> dict:
    """Train one model; return its size and the accuracy on dates."""
    train = date_lists("train", 8000, COUNT, **LISTS)
    validation = date_lists("validation", 100, COUNT, **LISTS)
    pairs = [(pair.text, pair.iso) for pair in train]
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    model = EncoderDecoder(
        len(source.vocabulary),
        len(target.vocabulary),
        embedding_size=64,
        hidden_size=WIDTHS[setting],
        score="additive" if setting == "attention" else None,
    )

    def right(trained) -> float:
        texts = [pair.text for pair in validation]
        written = translate(trained, texts, source, target, max_length=11 * COUNT + 1)
        return parts_right(written, [pair.iso for pair in validation])

    history = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=100, decay=0.6),
        evaluate=right,
        evaluate_at=range(EVERY, STEPS + 1, EVERY),
        description=f"{setting}, seed {seed}",
    )
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "evaluated_at": history.evaluated_at,
        "dates_right": history.evaluations,
    }


if __name__ == "__main__":
    Study("ch05/bottleneck_width", run, tuple(WIDTHS)).main()
