"""Does a network of dates need a memory, or is a window of characters enough? For section 3.6.

    python -m studies.ch03.dates_windows --seeds 0 1 2 3 4
    python -m studies.ch03.dates_windows --table

The loop of section 3.6 on its 1,000 English dates, with feed-forward language models whose windows
have 2, 4 or 8 characters, and with a GRU; with a window of 4, also with a third of the learning
rate and with three times the rate. Told after 300 batches, as on the page, and after 1,200: the
perplexity of the same 200 new dates, and how many of 200 samples have the form of a date. Beside it
are character n-gram models with Kneser–Ney smoothing that see as many characters.
"""

import torch

from gates2heads.book.ch03.faulty import WELL_FORMED, date_texts
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.sampling import sample
from gates2heads.metrics.perplexity import perplexity
from gates2heads.models.language.base import LanguageModel
from gates2heads.models.language.neural import FeedForwardLanguageModel, RecurrentLanguageModel
from gates2heads.models.language.ngram import KneserNey

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
SAMPLES = 200


def build(window: int | None, size: int) -> LanguageModel:
    """A network of the page's size."""
    if window is None:
        return RecurrentLanguageModel(size, cell="gru", embedding_size=16, hidden_size=64)
    return FeedForwardLanguageModel(size, window=window, embedding_size=16, hidden_size=64)


def run(setting: str, seed: int) -> dict:
    """Train one network, and count the n-grams that see as many characters."""
    window, rate = SETTINGS[setting]
    train, new = date_texts("train", 1000), date_texts("test", 200)
    tokenizer = CharacterTokenizer(Vocabulary(sorted(set("".join(train)))))
    train, new = (list(map(tokenizer.encode, some)) for some in (train, new))
    new_tokens, new_mask = pad(new)
    size = len(tokenizer.vocabulary)

    def measured(model: LanguageModel) -> dict:
        with torch.no_grad():
            found = model.log_probs(new_tokens, mask=new_mask)
            drawn = sample(
                model.step,
                model.start(SAMPLES),
                bos=torch.full((SAMPLES,), Vocabulary.bos),
                eos=Vocabulary.eos,
                max_length=60,
                generator=torch.Generator().manual_seed(seed),
            )
        dates = [tokenizer.decode(row) for row in drawn.tokens.tolist()]
        return {
            "perplexity": float(perplexity(found, mask=new_mask)),
            "well_formed": sum(bool(WELL_FORMED.fullmatch(one)) for one in dates),
        }

    torch.manual_seed(seed)
    model = build(window, size)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    course = {}
    for step in range(1, STEPS + 1):
        batch = [train[i] for i in torch.randint(len(train), (32,))]
        tokens, mask = pad(batch)
        loss = -model.log_probs(tokens, mask=mask)[mask].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step in (SHOWN, STEPS):
            course[step] = measured(model)
    return {
        "perplexity": course[SHOWN]["perplexity"],
        "well_formed": course[SHOWN]["well_formed"],
        "perplexity_at_the_end": course[STEPS]["perplexity"],
        "well_formed_at_the_end": course[STEPS]["well_formed"],
        "counted": measured(KneserNey(train, size, 1 + (window or 4))),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/dates_windows", run, list(SETTINGS)).main()
