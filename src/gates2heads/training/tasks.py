"""Tasks of the command line: which pairs of texts, which tokenizers, and what counts as right.

A task is a class with the methods of `DatesTask`. To add one, write the class and name it in
`TASKS`; the command line and the recipes ask nothing else of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import product

from babel import UnknownLocaleError

from gates2heads.data.batching import Batch, endless_batches
from gates2heads.data.checks import check_count
from gates2heads.data.corpora import FORMS, LOCALES, SPLITS, dates, write_date
from gates2heads.data.tokenizers import CharacterTokenizer
from gates2heads.data.vocabulary import Vocabulary
from gates2heads.metrics.exact_match import exact_match

Pairs = list[tuple[str, str]]
SPECIAL = 3  # the vocabulary's own tokens, which no card repeats


class DatesTask:
    """Read a date as people write it, write it in ISO 8601, character by character.

    Args:
        data: how many pairs each split has, and which locales and forms are drawn from.

    Raises:
        TypeError, ValueError: a size is no whole number of at least 1.
    """

    data: Mapping = {
        "train": 30_000,
        "validation": 400,
        "test": 1_000,
        "locales": list(LOCALES),
        "forms": list(FORMS),
    }
    batch_size = 64  # pairs a batch
    max_length = 12  # ten characters, <eos>, and one that would be wrong
    measure = "exact_match"

    def __init__(self, data: Mapping):
        for split in SPLITS:
            check_count(f"data.{split}", data[split])
        self.settings = data

    def __str__(self) -> str:
        return f"CLDR dates, {', '.join(self.settings['locales'])}"

    def pairs(self, split: str) -> Pairs:
        """The (text, ISO date) pairs of a split.

        Raises:
            TypeError, ValueError: an unknown split, locale or form.
        """
        if split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
        chosen = {name: self.settings[name] for name in ("locales", "forms")}
        try:
            drawn = dates(split, self.settings[split], **chosen)
        except UnknownLocaleError as error:
            raise ValueError(f"data.locales must hold CLDR names of languages: {error}") from error
        return [(pair.text, pair.iso) for pair in drawn]

    def tokenizers(self, pairs: Pairs) -> tuple[CharacterTokenizer, CharacterTokenizer]:
        """Tokenizers of the two sides.

        They know what stands in these pairs, and every character of a year in the same languages
        and forms: few pairs may lack a month, which a test then asks for.
        """
        year = [date(2019, month, day) for month in range(1, 13) for day in range(1, 29)]
        styles = product(year, self.settings["locales"], self.settings["forms"])
        more = [(write_date(day, *style), day.isoformat()) for day, *style in styles]
        sides = zip(*pairs, *more, strict=True)
        return tuple(CharacterTokenizer.from_texts(side) for side in sides)

    def to_card(self, source, target) -> dict:
        """What a card must hold so that `from_card` can make the same tokenizers."""
        return {
            "source_tokens": source.vocabulary.tokens[SPECIAL:],
            "target_tokens": target.vocabulary.tokens[SPECIAL:],
        }

    def from_card(self, card: Mapping) -> tuple[CharacterTokenizer, CharacterTokenizer]:
        """The tokenizers of a model that was trained before.

        Raises:
            KeyError: the card does not hold them.
        """
        tokens = (card["source_tokens"], card["target_tokens"])
        return tuple(CharacterTokenizer(Vocabulary(side)) for side in tokens)

    def batches(self, pairs: Sequence, batch_size: int, *, seed: int) -> Iterator[Batch]:
        """Batches of numbered pairs without end."""
        return endless_batches(pairs, batch_size, seed=seed)

    def score(self, written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
        """The scores of what a model wrote; `measure` names the one that early stopping reads."""
        return {"exact_match": exact_match(written, wanted)}


TASKS = {"dates": DatesTask}
