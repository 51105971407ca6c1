"""Tiny Shakespeare: one megabyte of plays for models that generate character by character."""

from gates2heads.accepts import accepts, choice
from gates2heads.data.corpora.download import fetch
from gates2heads.data.corpora.splits import SPLITS

# Fraction of the text at which a split ends: whole plays are held out, not lines of each.
ENDS = {"train": 0.9, "validation": 0.95, "test": 1.0}


@accepts(split=choice(SPLITS))
def tiny_shakespeare(split: str) -> str:
    """Load the first 90 % of the text to train, 5 % to validate, the last 5 % to test.

    A split begins and ends at a blank line, between two speakers.

    Source: Karpathy 2015, "The Unreasonable Effectiveness of Recurrent Neural Networks".

    Raises:
        ValueError: as in `fetch`.
        ConnectionError: the file is missing and cannot be downloaded.
    """
    text = fetch("tinyshakespeare.txt").read_text(encoding="utf-8")
    cuts = [0, *(speech_end(text, share) for share in ENDS.values())]
    place = SPLITS.index(split)
    return text[cuts[place] : cuts[place + 1]]


def speech_end(text: str, share: float) -> int:
    """The end of the speech at a given fraction of the text."""
    found = text.find("\n\n", int(share * len(text)))
    return len(text) if found < 0 else found + 2
