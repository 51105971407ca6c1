"""How well is a language read that was left out of the training? Exercise 5.9 asks it.

    python -m studies.ch05.held_out_languages --seeds 0 1 2
    python -m studies.ch05.held_out_languages --table

The attention model of the exercise's solution, trained on the dates of seven of the eight
languages, 200 steps of 64 dates, then asked for 300 test dates of the eighth, and of the seven
together. Told are the shares of dates, and of years, months and days in the eighth, that are
correct.
"""

import torch

from gates2heads.book.ch05.further_exercises import exact_match_on
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_batches
from gates2heads.data.corpora.dates import LOCALES, dates
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.decoding.translation import translate
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

STEPS, BATCH_SIZE = 200, 64
PARTS = {"date": slice(None), "year": slice(4), "month": slice(5, 7), "day": slice(8, None)}


def run(locale: str, seed: int) -> dict:
    """Train without one language; return the accuracy on it, and on the others."""
    train = dates("train", 30_000)
    source = CharacterTokenizer.from_texts(pair.text for pair in train)
    target = CharacterTokenizer.from_texts(pair.iso for pair in train)
    seven = [(pair.text, pair.iso) for pair in train if pair.locale != locale]
    torch.manual_seed(seed)
    model = EncoderDecoder(len(source.vocabulary), len(target.vocabulary))
    fit(
        model,
        endless_batches(encode_pairs(seven, source, target), BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=sequence_loss,
        learning_rate=5e-3,
        schedule=warmup_linear(STEPS, warmup=50, decay=0.3),
        description=f"without {locale}, seed {seed}",
    )
    pairs = dates("test", 300, locales=[locale], seed=55)
    written = translate(model, [pair.text for pair in pairs], source, target, max_length=12)
    found = list(zip(written, (pair.iso for pair in pairs), strict=True))
    return {
        **{
            name: sum(one[part] == true[part] for one, true in found) / len(found)
            for name, part in PARTS.items()
        },
        "others": exact_match_on(model, source, target, [one for one in LOCALES if one != locale]),
    }


if __name__ == "__main__":
    Study("ch05/held_out_languages", run, tuple(LOCALES)).main()
