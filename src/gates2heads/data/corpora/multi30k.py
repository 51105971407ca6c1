"""Multi30k: captions of photographs, each in German and in English, and more text on the same."""

import gzip
from itertools import chain
from typing import NamedTuple

from gates2heads.accepts import accepts, choice
from gates2heads.data.corpora.download import fetch
from gates2heads.data.corpora.splits import SPLITS

FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
CODES = {"German": "de", "English": "en"}
DESCRIBED = 5  # times, each image in each language, by people who saw only the image
KEPT_BACK = 300  # images whose descriptions are used for evaluation


class CaptionPair(NamedTuple):
    """One caption in two languages; the English one was written first."""

    german: str
    english: str


def read_lines(name: str) -> list[str]:
    """The lines of a compressed file, stripped of spaces."""
    with gzip.open(fetch(name), "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


@accepts(split=choice(SPLITS))
def multi30k(split: str) -> list[CaptionPair]:
    """Load the captions of a split: 29,000 to train, 1,014 to validate, 1,000 (2016) to test.

    The text is for research and education; cite the source.

    Source: Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions".

    Raises:
        ValueError: as in `fetch`.
        ConnectionError: the files are missing and cannot be downloaded.
    """
    german, english = (
        read_lines(f"multi30k/{FILES[split]}.{language}.gz") for language in ("de", "en")
    )
    return [CaptionPair(*pair) for pair in zip(german, english, strict=True)]


class Described(NamedTuple):
    """One image of the training captions, described independently in both languages."""

    german: tuple[str, ...]  # 5 sentences
    english: tuple[str, ...]


@accepts(language=choice(CODES))
def descriptions(language: str) -> list[str]:
    """Load up to five descriptions of each training image: sentences of one language for training.

    They are not translations of those in the other language, which other people wrote for the same
    image. Excluded are the images of `described_images`, and the sentences that also occur among
    theirs or in the validation or test captions, apart from capitals and a final full stop.

    The text is for research and education; cite the sources.

    Source: Elliott et al. 2016, task 2; the English ones are those of Flickr30k, Young et al. 2014.

    Args:
        language: "German" or "English".

    Returns:
        143,315 German or 143,485 English sentences, the five of an image one after the other.

    Raises:
        ValueError, ConnectionError: as in `multi30k`.
    """
    field, images = language.lower(), _of_images(language)
    captions = [getattr(pair, field) for name in SPLITS[1:] for pair in multi30k(name)]
    judging = {*captions, *chain(*images[:KEPT_BACK])}
    known = set(map(_words, judging))
    return [text for text in chain(*images[KEPT_BACK:]) if _words(text) not in known]


def described_images() -> list[Described]:
    """Load the first 300 images with all descriptions: captions that are not translations.

    A translation of a description in one language is evaluated against five of the same image in
    the other. One of the English ones may be the caption of the image in `multi30k("train")`.

    Raises:
        ValueError, ConnectionError: as in `multi30k`.
    """
    sides = [_of_images(language)[:KEPT_BACK] for language in CODES]
    return [Described(*image) for image in zip(*sides, strict=True)]


def _of_images(language: str) -> list[tuple[str, ...]]:
    """The five descriptions of each image, in the order of the training captions."""
    code = CODES[language]
    names = [f"multi30k/descriptions/train.{one}.{code}.gz" for one in range(1, DESCRIBED + 1)]
    return list(zip(*map(read_lines, names), strict=True))


def _words(text: str) -> str:
    """A key that is equal for sentences that differ only in capitals, spaces and a full stop."""
    return " ".join(text.lower().split()).rstrip(" .")
