"""Does the small GRU of section 3.6 beat counting, whatever the seed and the learning rate?

    python -m studies.ch03.dates_gru --seeds 0 1 2 3 4
    python -m studies.ch03.dates_gru --table

A setting is a learning rate. The GRU is trained with the loop of section 3.6 on its 1,000 English
dates, for 1,000 batches instead of 300. All results are perplexities per character of the same 200
new dates: after 300 batches (`as_shown`), the lowest of the run (`lowest`), after 1,000 batches
(`at_the_end`), and of character n-gram models with Kneser–Ney smoothing (`trigram`, `five_gram`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.book.ch03.faulty import date_texts
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.metrics.perplexity import perplexity
from gates2heads.models.language.base import LanguageModel
from gates2heads.models.language.neural import RecurrentLanguageModel
from gates2heads.models.language.ngram import KneserNey

RATES = {"rate 0.003": 0.003, "rate 0.01": 0.01, "rate 0.03": 0.03}
STEPS, SHOWN = 1_000, 300  # batches; how many the page trains for
EVERY = 100


class Dates(NamedTuple):
    """The page's 1,000 dates to learn from, and 200 new ones."""

    tokenizer: CharacterTokenizer
    train: list[list[int]]
    new: Tensor  # (200, L) long
    mask: Tensor  # (200, L) bool

    @classmethod
    def of_the_page(cls) -> "Dates":
        """The dates as the page cuts them into characters."""
        train, new = date_texts("train", 1000), date_texts("test", 200)
        tokenizer = CharacterTokenizer(Vocabulary(sorted(set("".join(train)))))
        train, new = (list(map(tokenizer.encode, some)) for some in (train, new))
        return cls(tokenizer, train, *pad(new))

    def another(self, split: str, size: int) -> "Dates":
        """The same, with dates of another split instead of the new ones."""
        texts = [self.tokenizer.encode(text) for text in date_texts(split, size)]
        return Dates(self.tokenizer, self.train, *pad(texts))

    def perplexity(self, model: LanguageModel) -> float:
        """The perplexity of the new dates."""
        with torch.no_grad():
            found = model.log_probs(self.new, mask=self.mask)
        return float(perplexity(found, mask=self.mask))


def steps_of(model: LanguageModel, train: list, rate: float, steps: int) -> Iterator[int]:
    """Train with the loop of the page; yield the number of each batch after its step."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(1, steps + 1):
        batch = [train[i] for i in torch.randint(len(train), (32,))]
        tokens, mask = pad(batch)
        loss = -model.log_probs(tokens, mask=mask)[mask].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        yield step


def run(setting: str, seed: int) -> dict:
    """Train one GRU; return its perplexity on new dates every 100 batches, and that of counting."""
    dates = Dates.of_the_page()
    size = len(dates.tokenizer.vocabulary)
    torch.manual_seed(seed)
    model = RecurrentLanguageModel(size, cell="gru", embedding_size=16, hidden_size=64)
    course = [
        dates.perplexity(model)
        for step in steps_of(model, dates.train, RATES[setting], STEPS)
        if step % EVERY == 0
    ]
    return {
        "as_shown": course[SHOWN // EVERY - 1],
        "lowest": min(course),
        "at_the_end": course[-1],
        "trigram": dates.perplexity(KneserNey(dates.train, size, 3)),
        "five_gram": dates.perplexity(KneserNey(dates.train, size, 5)),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/dates_gru", run, list(RATES)).main()
