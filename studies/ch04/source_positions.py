"""How much of each source position does one context vector keep? See section 4.8.

    python -m studies.ch04.source_positions --seeds 0 1 2
    python -m studies.ch04.source_positions --table

An encoder–decoder without attention learns lists of three dates in the forms of chapter 5, on 600
batches (`STEPS`) of 32. The setting is the direction in which the encoder reads a list: `forwards`,
`backwards` (the source reversed, as in Sutskever et al. 2014), or `both ways`, with half of the
units for each direction. The context vector has 256 dimensions in all three. `by_place` has the
shares of correct dates in 300 test lists, by position in the list.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import date_lists
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.models.translation.encoders import RecurrentEncoder
from gates2heads.models.translation.seq2seq import Decoder, SequenceToSequence
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

STEPS, BATCH_SIZE, COUNT, TESTED = 600, 32, 3, 300
EMBEDDING, UNITS = 64, 256
LISTS = {"locales": ("en", "fr", "de"), "forms": ("medium", "yMMMd")}
ORDERS = ("forwards", "backwards", "both ways")


def run(order: str, seed: int) -> dict:
    """Train one model; return the accuracy at each position of a list."""

    def lists(split: str, size: int) -> list[tuple[str, str]]:
        found = date_lists(split, size, COUNT, **LISTS)
        turn = slice(None, None, -1 if order == "backwards" else 1)
        return [(pair.text[turn], pair.iso) for pair in found]

    pairs = lists("train", 8000)
    source, target = (CharacterTokenizer.from_texts(side) for side in zip(*pairs, strict=True))
    torch.manual_seed(seed)
    encoder = RecurrentEncoder(
        len(source.vocabulary), EMBEDDING, UNITS, bidirectional=order == "both ways"
    )
    model = SequenceToSequence(encoder, Decoder(len(target.vocabulary), EMBEDDING, UNITS))
    history = fit(
        model,
        endless_batches(encode_pairs(pairs, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=100, decay=0.6),
        description=f"{order}, seed {seed}",
    )
    texts, wanted = zip(*lists("test", TESTED), strict=True)
    written = translate(model.eval(), texts, source, target, max_length=11 * COUNT + 1)
    right = [
        [
            a == b
            for a, b in zip((one.split(" ") + [""] * COUNT)[:COUNT], true.split(" "), strict=True)
        ]
        for one, true in zip(written, wanted, strict=True)
    ]
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "loss": sum(history.loss[-20:]) / 20,
        "by_place": [sum(place) / TESTED for place in zip(*right, strict=True)],
    }


if __name__ == "__main__":
    Study("ch04/source_positions", run, ORDERS).main()
