"""Multi30k: captions of photographs, each in German and in English."""

import gzip
from typing import NamedTuple

from gates2heads.accepts import accepts, choice
from gates2heads.data.corpora.download import fetch
from gates2heads.data.corpora.splits import SPLITS

FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


class CaptionPair(NamedTuple):
    """One caption in two languages; the English one was written first."""

    german: str
    english: str


def read_lines(name: str) -> list[str]:
    """The lines of a compressed file, without the spaces around them."""
    with gzip.open(fetch(name), "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


@accepts(split=choice(SPLITS))
def multi30k(split: str) -> list[CaptionPair]:
    """Load the captions of a split: 29,000 to train, 1,014 to validate, 1,000 (2016) to test.

    The text is for research and education; cite the source.

    Source: Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions".

    Raises:
        ValueError: what `fetch` raises.
        ConnectionError: the files are not here and cannot be downloaded.
    """
    german, english = (
        read_lines(f"multi30k/{FILES[split]}.{language}.gz") for language in ("de", "en")
    )
    return [CaptionPair(*pair) for pair in zip(german, english, strict=True)]
