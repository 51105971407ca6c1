"""Augmentation with typed text: in lower case, with “ae” for “ä”, without a full stop."""

import random
import re

from gates2heads.accepts import accepts, any_seed, flag, fraction, string
from gates2heads.accepts.values import distinct_seed

SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def without_umlauts(text: str) -> str:
    """Write German with the letters of an English keyboard: “ae” for “ä”, “ss” for “ß”."""
    return text.translate(SPELT)


def without_stop(text: str) -> str:
    """Leave out the full stop at the end."""
    return re.sub(r"\s*\.\s*$", "", text) or text


HABITS = (str.lower, without_umlauts, without_stop)


@accepts(share=fraction, seed=any_seed)
class AsTyped:
    """Encode texts as a tokenizer does, some of them changed as people would type them.

    It is for training only. Of the texts that are changed, each habit of `HABITS` is applied to
    every second one, and at least one habit to each.

    Args:
        tokenizer: the tokenizer; any object with `encode`.
        share: the fraction of texts that are changed, in [0, 1].
        seed: the same seed and the same texts in the same order give the same changes.
    """

    def __init__(self, tokenizer, share: float, *, seed: int = 0):
        self.tokenizer, self.share = tokenizer, float(share)
        self._draw = random.Random(distinct_seed(seed))

    @accepts(text=string, eos=flag)
    def encode(self, text: str, *, eos: bool = True) -> list[int]:
        """Encode a text; `<eos>` is appended unless `eos=False`."""
        return self.tokenizer.encode(self.typed(text), eos=eos)

    def typed(self, text: str) -> str:
        """The text, or a version that somebody might type."""
        if self._draw.random() >= self.share:
            return text
        certain = self._draw.choice(HABITS)
        for habit in HABITS:
            if habit is certain or self._draw.random() < 0.5:
                text = habit(text)
        return text
