"""Does a network of dates need a memory, or is a window of characters enough? For section 3.6.

    python -m studies.ch03.dates_windows --seeds 0 1 2 3 4
    python -m studies.ch03.dates_windows --table

A setting is a network: a feed-forward language model with a window of 2, 4 or 8 characters, or a
GRU. It is trained with the loop of section 3.6 on its 1,000 English dates; the window of 4 is also
trained with about a third of the learning rate and with three times the rate.

`perplexity` is measured per character on the same 200 new dates, after 300 batches as on the page;
`well_formed` counts the samples, of 200, that have the form of a date. The names that end in
"at_the_end" are of 1,200 batches. `counted` has the same results for a character n-gram model with
Kneser–Ney smoothing and an equally long context (of four characters beside the GRU). It uses three
discounts that are estimated from the counts; `counted_with_one_discount` uses a single one, the
best of nine on 200 validation dates.
"""

import torch

from gates2heads.book.ch03.faulty import WELL_FORMED
from gates2heads.book.studies import Study
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.sampling import sample
from gates2heads.models.language.base import LanguageModel
from gates2heads.models.language.neural import FeedForwardLanguageModel, RecurrentLanguageModel
from gates2heads.models.language.ngram import KneserNey
from studies.ch03.dates_gru import Dates, steps_of

# The characters that the model sees, None for all, and the learning rate.
SETTINGS: dict[str, tuple[int | None, float]] = {
    "window 2": (2, 0.01),
    "window 4": (4, 0.01),
    "window 4, rate 0.003": (4, 0.003),
    "window 4, rate 0.03": (4, 0.03),
    "window 8": (8, 0.01),
    "gru": (None, 0.01),
}
SHOWN, STEPS = 300, 1_200  # batches: as on the page, and four times as many
SAMPLES, HELD_OUT = 200, 200
DISCOUNTS = tuple(tenths / 10 for tenths in range(1, 10))


def build(window: int | None, size: int) -> LanguageModel:
    """A network of the page's size."""
    if window is None:
        return RecurrentLanguageModel(size, cell="gru", embedding_size=16, hidden_size=64)
    return FeedForwardLanguageModel(size, window=window, embedding_size=16, hidden_size=64)


def run(setting: str, seed: int) -> dict:
    """Train one network, and count the n-grams that see as many characters."""
    window, rate = SETTINGS[setting]
    dates = Dates.of_the_page()
    size = len(dates.tokenizer.vocabulary)

    def measured(model: LanguageModel) -> dict:
        with torch.no_grad():
            drawn = sample(
                model.step,
                model.start(SAMPLES),
                bos=torch.full((SAMPLES,), Vocabulary.bos),
                eos=Vocabulary.eos,
                max_length=60,
                generator=torch.Generator().manual_seed(seed),
            )
        texts = [dates.tokenizer.decode(row) for row in drawn.tokens.tolist()]
        return {
            "perplexity": dates.perplexity(model),
            "well_formed": sum(bool(WELL_FORMED.fullmatch(one)) for one in texts),
        }

    order = 1 + (window or 4)
    held_out = dates.another("validation", HELD_OUT)
    one_discount = {
        discount: KneserNey(dates.train, size, order, discount=discount) for discount in DISCOUNTS
    }
    best = min(DISCOUNTS, key=lambda discount: held_out.perplexity(one_discount[discount]))
    three_discounts = KneserNey(dates.train, size, order)
    torch.manual_seed(seed)
    model = build(window, size)
    course = {
        step: measured(model)
        for step in steps_of(model, dates.train, rate, STEPS)
        if step in (SHOWN, STEPS)
    }
    return {
        "perplexity": course[SHOWN]["perplexity"],
        "well_formed": course[SHOWN]["well_formed"],
        "perplexity_at_the_end": course[STEPS]["perplexity"],
        "well_formed_at_the_end": course[STEPS]["well_formed"],
        "counted": measured(three_discounts),
        "largest_discount": max(map(max, three_discounts.discounts)),
        "counted_with_one_discount": {"discount": best, **measured(one_discount[best])},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/dates_windows", run, list(SETTINGS)).main()
